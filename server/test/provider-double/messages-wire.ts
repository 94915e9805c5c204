import { argumentsText, lastUserIn, piecesOf, type DoubleWire, type ModelAnswer, type WireEvent } from './answer.ts'

type Block = Record<string, unknown> & { type: string }

/** Refusals have no form of their own on this wire: they are text. */
function blocksOf(answer: ModelAnswer): Block[] {
  const said = answer.text ?? answer.refusal
  return [
    ...(answer.reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: answer.reasoning, signature: 'signed-by-the-double' }]),
    ...(said === undefined ? [] : [{ type: 'text', text: said }]),
    ...(answer.calls ?? []).map((call, at) => ({
      type: 'tool_use',
      id: call.id ?? `toolu_double_${at}`,
      name: call.name,
      input: argumentsText(call),
    })),
  ]
}

function stopOf({ finish = 'stop', calls = [] }: ModelAnswer): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'content_filter') return 'refusal'
  return calls.length > 0 ? 'tool_use' : 'end_turn'
}

/** This wire cannot leave usage out: zero is the nearest to nothing. */
const usageBlock = ({ usage }: ModelAnswer) => ({
  input_tokens: usage?.input ?? 0,
  output_tokens: usage?.output ?? 0,
})

function deltasOf(block: Block): Record<string, unknown>[] {
  if (block.type === 'tool_use') {
    const pieces = piecesOf(String(block['input']))
    return pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
  }
  if (block.type === 'thinking') {
    const pieces = piecesOf(String(block['thinking']))
    return [
      ...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: block['signature'] },
    ]
  }
  return piecesOf(String(block['text'])).map((piece) => ({ type: 'text_delta', text: piece }))
}

function emptied(block: Block): Block {
  if (block.type === 'tool_use') return { ...block, input: {} }
  return block.type === 'thinking' ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' }
}

export const messagesWire: DoubleWire = {
  events(answer, model) {
    const usage = usageBlock(answer)
    const bodies: (Record<string, unknown> & { type: string })[] = [
      {
        type: 'message_start',
        message: {
          id: 'msg_double',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 0 },
        },
      },
      ...blocksOf(answer).flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: emptied(block) },
        ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: stopOf(answer), stop_sequence: null },
        usage: { output_tokens: usage.output_tokens },
      },
      { type: 'message_stop' },
    ]
    return bodies.map((data): WireEvent => ({ event: data.type, data }))
  },

  whole(answer, model) {
    return {
      id: 'msg_double',
      type: 'message',
      role: 'assistant',
      model,
      content: blocksOf(answer).map((block) =>
        block.type === 'tool_use' ? { ...block, input: JSON.parse(String(block['input'])) as unknown } : block,
      ),
      stop_reason: stopOf(answer),
      stop_sequence: null,
      usage: usageBlock(answer),
    }
  },

  error: (message) => ({ event: 'error', data: { type: 'error', error: { type: 'api_error', message } } }),
  lastUserText: ({ messages }) => lastUserIn(messages),
  inputWords: ({ messages }) => piecesOf(JSON.stringify(messages ?? [])).length,
}

import { argumentsText, lastUserIn, piecesOf, type DoubleWire, type ModelAnswer, type WireEvent } from './answer.ts'

type Item = Record<string, unknown> & { id: string; type: string }

function itemsOf(answer: ModelAnswer): Item[] {
  const items: Item[] = []
  if (answer.reasoning !== undefined) {
    const summary = answer.reasoning.split('\n\n').map((text) => ({ type: 'summary_text', text }))
    items.push({ id: 'rs_double', type: 'reasoning', summary, encrypted_content: 'sealed-by-the-double' })
  }
  if (answer.text !== undefined || answer.refusal !== undefined) {
    const part =
      answer.refusal === undefined
        ? { type: 'output_text', text: answer.text, annotations: [], logprobs: [] }
        : { type: 'refusal', refusal: answer.refusal }
    items.push({ id: 'msg_double', type: 'message', role: 'assistant', status: 'completed', content: [part] })
  }
  for (const [at, call] of (answer.calls ?? []).entries()) {
    const common = {
      id: `fc_double_${at}`,
      call_id: call.id ?? `call_double_${at}`,
      name: call.name,
      status: 'completed',
    }
    items.push(
      call.custom === true
        ? { type: 'custom_tool_call', ...common, input: argumentsText(call) }
        : { type: 'function_call', ...common, arguments: argumentsText(call) },
    )
  }
  return items
}

function responseOf(answer: ModelAnswer, model: string): Record<string, unknown> {
  const { finish = 'stop', usage } = answer
  return {
    id: 'resp_double',
    object: 'response',
    created_at: 1_790_000_000,
    model,
    status: finish === 'stop' ? 'completed' : 'incomplete',
    error: null,
    incomplete_details:
      finish === 'stop' ? null : { reason: finish === 'length' ? 'max_output_tokens' : 'content_filter' },
    output: itemsOf(answer),
    usage:
      usage === null || usage === undefined
        ? null
        : {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          },
  }
}

/** The pieces of an item between its beginning and its end. */
function middleOf(item: Item, at: number): Record<string, unknown>[] {
  const place = { item_id: item.id, output_index: at }
  const pieces = (type: string, text: string, more: object) =>
    piecesOf(text).map((delta) => ({ type, ...place, ...more, delta }))
  if (item.type === 'function_call') {
    return pieces('response.function_call_arguments.delta', String(item['arguments']), {})
  }
  if (item.type === 'custom_tool_call') {
    return pieces('response.custom_tool_call_input.delta', String(item['input']), {})
  }
  if (item.type === 'reasoning') {
    return (item['summary'] as { text: string }[]).flatMap((part, index) => [
      { type: 'response.reasoning_summary_part.added', ...place, summary_index: index, part: { ...part, text: '' } },
      ...pieces('response.reasoning_summary_text.delta', part.text, { summary_index: index }),
      { type: 'response.reasoning_summary_part.done', ...place, summary_index: index, part },
    ])
  }
  const [part] = item['content'] as [{ type: string; text?: string; refusal?: string }]
  const inPart = { content_index: 0 }
  return [
    { type: 'response.content_part.added', ...place, ...inPart, part },
    ...(part.type === 'refusal'
      ? pieces('response.refusal.delta', part.refusal ?? '', inPart)
      : pieces('response.output_text.delta', part.text ?? '', { ...inPart, logprobs: [] })),
    { type: 'response.content_part.done', ...place, ...inPart, part },
  ]
}

const emptied = (item: Item): Item => ({
  ...item,
  status: 'in_progress',
  ...('arguments' in item ? { arguments: '' } : {}),
  ...('input' in item ? { input: '' } : {}),
  ...('content' in item ? { content: [] } : {}),
  ...('summary' in item ? { summary: [], encrypted_content: null } : {}),
})

export const responsesWire: DoubleWire = {
  events(answer, model) {
    const response = responseOf(answer, model)
    const items = itemsOf(answer)
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    const bodies: Record<string, unknown>[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...items.flatMap((item, at) => [
        { type: 'response.output_item.added', output_index: at, item: emptied(item) },
        ...middleOf(item, at),
        { type: 'response.output_item.done', output_index: at, item },
      ]),
      { type: response['status'] === 'completed' ? 'response.completed' : 'response.incomplete', response },
    ]
    return bodies.map((body, at): WireEvent => ({
      event: String(body['type']),
      data: { ...body, sequence_number: at },
    }))
  },
  whole: responseOf,
  error: (message) => ({ event: 'error', data: { type: 'error', code: 'server_error', message, param: null } }),
  lastUserText: ({ input }) => lastUserIn(input),
  inputWords: ({ input }) => piecesOf(JSON.stringify(input ?? [])).length,
}

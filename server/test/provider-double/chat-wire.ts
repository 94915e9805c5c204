import { argumentsText, lastUserIn, piecesOf, type DoubleWire, type ModelAnswer, type WireEvent } from './answer.ts'

const finishOf = ({ finish, calls = [] }: ModelAnswer) =>
  finish === undefined || finish === 'stop' ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish

const callsOf = ({ calls = [] }: ModelAnswer) =>
  calls.map((call, index) => ({
    id: call.id ?? `call_double_${index}`,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }))

const usageBlock = ({ usage }: ModelAnswer) =>
  usage === null || usage === undefined
    ? null
    : { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output }

export const chatWire: DoubleWire = {
  events(answer, model) {
    const chunk = (delta: object | null, finish: string | null = null, more: object = {}): WireEvent => ({
      data: {
        id: 'chatcmpl-double',
        object: 'chat.completion.chunk',
        created: 1_790_000_000,
        model,
        choices: delta === null ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        usage: null,
        ...more,
      },
    })
    const usage = usageBlock(answer)
    return [
      chunk({ role: 'assistant', content: '' }),
      ...piecesOf(answer.reasoning ?? '').map((piece) => chunk({ reasoning_content: piece })),
      ...piecesOf(answer.text ?? '').map((piece) => chunk({ content: piece })),
      ...piecesOf(answer.refusal ?? '').map((piece) => chunk({ refusal: piece })),
      ...callsOf(answer).flatMap(({ function: { name, arguments: text }, ...call }, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
        ...piecesOf(text).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, finishOf(answer)),
      ...(usage === null ? [] : [chunk(null, null, { usage })]),
      { data: '[DONE]' },
    ]
  },

  whole(answer, model) {
    const usage = usageBlock(answer)
    const calls = callsOf(answer)
    const message = {
      role: 'assistant',
      content: answer.text ?? null,
      refusal: answer.refusal ?? null,
      ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    return {
      id: 'chatcmpl-double',
      object: 'chat.completion',
      created: 1_790_000_000,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
      ...(usage === null ? {} : { usage }),
    }
  },

  error: (message) => ({ data: { error: { message, type: 'server_error', code: null } } }),
  lastUserText: ({ messages }) => lastUserIn(messages),
  inputWords: ({ messages }) => piecesOf(JSON.stringify(messages ?? [])).length,
}

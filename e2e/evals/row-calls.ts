/** How the rows of the proofs can be told apart at the provider, and what it says to each. */

export type CallKind = 'sample' | 'grade'

const digits = 7
/** Of one width: the bodies of all rows are equally long. */
export const markerOf = (row: number) => `<row ${String(row).padStart(digits, '0')}>`
const marker = /<row (\d{7})>/

export function rowIn(body: string): number | null {
  const found = marker.exec(body)?.[1]
  return found === undefined ? null : Number(found)
}

/** The same body for another row. */
export const bodyOfRow = (body: string, row: number) => body.replace(marker, markerOf(row))

/** A model that grades is asked for an answer of a certain form. */
export const kindOf = (body: string): CallKind => (body.includes('"response_format"') ? 'grade' : 'sample')

export const label = 'Hardware'
/** Every so many rows the model is wrong. */
const wrongEvery = 10
const isWrong = (row: number) => row % wrongEvery === 0
export const wrongIn = (from: number, count: number) =>
  Math.ceil((from + count) / wrongEvery) - Math.ceil(from / wrongEvery)

const textOf = (row: number, kind: CallKind) => {
  if (kind === 'grade')
    return JSON.stringify({ reasoning: 'It names what is broken.', result: isWrong(row) ? 0.2 : 0.9 })
  return isWrong(row) ? 'Software' : label
}

const promptTokensLeast = 1_000
/** No two calls of a run have the same count of input tokens: the ledger tells which call an entry is of. */
export const promptTokens = (row: number, kind: CallKind) => promptTokensLeast + 2 * row + (kind === 'grade' ? 1 : 0)
export const completionTokens = (kind: CallKind) => (kind === 'grade' ? 12 : 3)

/** What the provider answers with, as JSON. */
export function answerOf(row: number, kind: CallKind): string {
  const [prompt, completion] = [promptTokens(row, kind), completionTokens(kind)]
  return JSON.stringify({
    id: 'chatcmpl-double',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'double-chat',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: textOf(row, kind), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  })
}

/** What all calls of these rows use, each made once. */
export function usageOf(from: number, count: number): { calls: number; prompt: number; completion: number } {
  let prompt = 0
  for (let row = from; row < from + count; row += 1) prompt += promptTokens(row, 'sample') + promptTokens(row, 'grade')
  return { calls: 2 * count, prompt, completion: count * (completionTokens('sample') + completionTokens('grade')) }
}

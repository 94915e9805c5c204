import type { Answer, ProviderDouble } from '../../server/test/provider-double.ts'

/** One answer of the provider, with what it counted. No two calls have the same count of input tokens. */
export interface Call {
  readonly request: number
  /** How many commands had been run when it was made. */
  readonly after: number
  readonly input: number
  readonly output: number
}

/** Model calls of a background response, with a command between each and the next. */
export const backgroundTurns = 3

const inputTokensLeast = 20_000
const outputTokensSpread = 97
const wholeMs = 900
const eventMs = 50
const saying = 'This is what the provider has to say, in more than a few words.'

export const promptOf = (request: number) => `This is request <${request}>.`
const markerIn = (text: string) => Number(/request <(\d+)>/.exec(text)?.[1] ?? Number.NaN)
/** As the shell of these proofs prints. */
const outputsIn = (text: string) => text.split('this was printed by: ').length - 1

/** Answers every request, slowly enough for a kill to fall into it, and keeps the count of every call. */
export function countCalls(double: ProviderDouble): Call[] {
  const calls: Call[] = []
  double.decide((body): Answer => {
    const text = JSON.stringify(body)
    const [request, after] = [markerIn(text), outputsIn(text)]
    const usage = { input: inputTokensLeast + calls.length, output: 1 + (calls.length % outputTokensSpread) }
    calls.push({ request, after, ...usage })
    // Kept for those who look at them.
    double.requests.length = 0
    const answer = { usage, slowMs: body['stream'] === true ? eventMs : wholeMs }
    const inBackground = text.includes('"shell"')
    if (!inBackground || after >= backgroundTurns - 1) return { ...answer, text: saying }
    const commands = [`command ${after} of request <${request}>`]
    return { ...answer, text: saying, calls: [{ name: 'shell', arguments: { commands } }] }
  })
  return calls
}

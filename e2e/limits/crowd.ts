import { Agent, request, type IncomingMessage } from 'node:http'
import { sleep } from '#platform/std/clock.ts'
import { seededRandom } from '../chaos/seeded-random.ts'

const kinds = [
  'whole',
  'stream',
  'cut stream',
  'given up',
  'background',
  'chat',
  'chat stream',
  'not stored',
  'invalid',
] as const
type Kind = (typeof kinds)[number]

/** What a client saw of one request. */
export interface Seen {
  readonly kind: Kind
  /** Null: it left before an answer came, or the connection broke. */
  readonly status: number | null
  readonly requestId: string | null
  readonly broken: boolean
}

export interface CrowdOptions {
  readonly ports: readonly number[]
  readonly key: string
  readonly clients: number
  readonly seconds: number
  readonly seed: number
  /** The most that a request may ask for, but for a few that ask for more than the whole limit. */
  readonly tokensMax: number
  readonly tokensPerMinute: number
}

/** Pauses of a client, so that all of them together come at different rates in the course of a run. */
const thinkMsMax = 1_500
const giveUpMsMax = 60
const tooLargeEvery = 150
const wordsMax = 60
const answerBoundMs = 60_000

/** So many clients at once, each sending one request after the other, of all kinds, to all nodes. */
export async function sendCrowd(options: CrowdOptions): Promise<Seen[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const until = performance.now() + options.seconds * 1_000
  const seen: Seen[] = []
  const clients = Array.from({ length: options.clients }, async (_none, index) => {
    const random = seededRandom(options.seed * 100_003 + index)
    // Half of them come at once, the others in their time.
    if (index % 2 === 1) await sleep(random() * thinkMsMax)
    while (performance.now() < until) {
      const { retryAfterMs, ...one } = await sendOne(options, agent, random)
      seen.push(one)
      // Some obey, others hammer.
      const obeyed = index % 3 === 0 ? 0 : retryAfterMs
      await sleep(Math.min(random() * thinkMsMax + obeyed, Math.max(0, until - performance.now())))
    }
  })
  await Promise.all(clients)
  agent.destroy()
  return seen
}

type Random = () => number

function bodyOf(kind: Kind, options: CrowdOptions, random: Random): { path: string; body: Record<string, unknown> } {
  const tooLarge = random() * tooLargeEvery < 1
  // Small ones are many.
  const output = tooLarge ? 2 * options.tokensPerMinute : 16 + Math.floor(options.tokensMax * random() ** 2)
  const words = 'word '.repeat(1 + Math.floor(random() * wordsMax))
  const model = 'double-chat'
  if (kind === 'chat' || kind === 'chat stream') {
    const messages = [{ role: 'user', content: words }]
    const body = { model, messages, max_completion_tokens: output, stream: kind === 'chat stream' }
    return { path: '/v1/chat/completions', body }
  }
  const body = { model, input: kind === 'invalid' ? 5 : words, max_output_tokens: output }
  if (kind === 'background') return { path: '/v1/responses', body: { ...body, background: true } }
  const stream = kind === 'stream' || kind === 'cut stream'
  return { path: '/v1/responses', body: { ...body, stream, store: kind !== 'not stored' } }
}

async function sendOne(
  options: CrowdOptions,
  agent: Agent,
  random: Random,
): Promise<Seen & { readonly retryAfterMs: number }> {
  const kind = kinds[Math.floor(random() * kinds.length)] ?? 'whole'
  const { path, body } = bodyOf(kind, options, random)
  const port = options.ports[Math.floor(random() * options.ports.length)] ?? 0
  const headers = { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' }
  const leaveMs = kind === 'given up' ? random() * giveUpMsMax : answerBoundMs
  return await new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers })
    const leaving = setTimeout(() => sent.destroy(), leaveMs)
    let answer: IncomingMessage | null = null
    const end = (broken: boolean) => {
      clearTimeout(leaving)
      resolve({
        kind,
        status: answer?.statusCode ?? null,
        requestId: answer?.headers['x-request-id']?.toString() ?? null,
        broken: broken && kind !== 'given up' && kind !== 'cut stream',
        retryAfterMs: Number(answer?.headers['retry-after-ms'] ?? 0),
      })
    }
    sent.on('error', () => end(true))
    sent.on('response', (reply) => {
      answer = reply
      const cutAfter = kind === 'cut stream' && reply.statusCode === 200 ? 1 + Math.floor(random() * 3) : Infinity
      let chunks = 0
      reply.on('data', () => {
        chunks += 1
        if (chunks >= cutAfter) sent.destroy()
      })
      reply.on('error', () => end(true))
      reply.on('close', () => end(!reply.complete))
    })
    sent.end(JSON.stringify(body))
  })
}

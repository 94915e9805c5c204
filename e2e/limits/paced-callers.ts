import { sleep } from '#platform/std/clock.ts'

/** One request that was answered. */
export interface Answered {
  readonly node: number
  readonly status: number
  /** When it was sent. */
  readonly at: number
}

export interface Caller {
  readonly port: number
  readonly key: string
}

export const prompt = { model: 'double-chat', input: 'Say something.', store: false }
const waitMsMax = 2_000
const callBoundMs = 30_000

export async function call({ port, key }: Caller, body: unknown = prompt, path = '/v1/responses'): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}${path}`, {
    ...(body !== null && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(callBoundMs),
  })
}

/** Lanes of callers at every node, each of which comes back when it is told to. */
export class PacedCallers {
  readonly answered: Answered[] = []
  readonly #stopping = new AbortController()
  readonly #lanes: Promise<void>[]

  constructor(callers: readonly Caller[], lanesEach: number) {
    this.#lanes = callers.flatMap((caller, node) => Array.from({ length: lanesEach }, () => this.#lane(caller, node)))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#lanes)
  }

  async #lane(caller: Caller, node: number): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const at = performance.now()
      const reply = await call(caller)
      await reply.arrayBuffer()
      this.answered.push({ node, status: reply.status, at })
      const told = Number(reply.headers.get('retry-after-ms') ?? 0)
      if (reply.status !== 200) await sleep(Math.min(waitMsMax, told), signal)
    }
  }
}

/** The most that was let in beyond what time gives, over every stretch of time: negative when there was room. */
export function mostAbove(at: readonly number[], perSecond: number): number {
  const sorted = at.toSorted((a, b) => a - b)
  let most = -Infinity
  // Over all pairs: (last - first + 1) - rate * time, kept as a running greatest.
  let greatest = -Infinity
  for (const [index, now] of sorted.entries()) {
    const given = (perSecond * now) / 1_000
    greatest = Math.max(greatest, given - index)
    most = Math.max(most, index + 1 - given + greatest)
  }
  return most
}

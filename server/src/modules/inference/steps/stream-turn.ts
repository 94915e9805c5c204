import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import { ProviderFault } from '../domain/provider-fault.ts'
import type { TurnPart, TurnRequest } from '../domain/turn.ts'
import type { Provider } from '../providers/provider.ts'

const triesMax = 3
const retryWaits = { baseMs: 250, maxMs: 2_000, factor: 2, jitter: 0.5 }
/** A provider that wants a longer wait is not waited for: the caller learns when to come back. */
export const retryAfterMaxMs = 10_000

/** One turn. A try that failed before its first part is repeated; after that, nothing is. */
export function streamTurn(provider: Provider, request: TurnRequest, signal: AbortSignal): AsyncIterable<TurnPart> {
  return {
    [Symbol.asyncIterator]: () =>
      request.stream ? new Streamed(provider, request, signal) : whole(provider, request, signal),
  }
}

async function* whole(
  provider: Provider,
  request: TurnRequest,
  signal: AbortSignal,
): AsyncGenerator<TurnPart, void, void> {
  yield* await retried(() => provider.answer(request, signal), signal)
}

/** Hands on what the provider's own generator gives, without another generator around it: this is the hot path. */
class Streamed implements AsyncIterator<TurnPart, void, void> {
  readonly #provider: Provider
  readonly #request: TurnRequest
  readonly #signal: AbortSignal
  #parts: AsyncGenerator<TurnPart, void, void> | null = null

  constructor(provider: Provider, request: TurnRequest, signal: AbortSignal) {
    this.#provider = provider
    this.#request = request
    this.#signal = signal
  }

  next(): Promise<IteratorResult<TurnPart, void>> {
    return this.#parts === null ? this.#first() : this.#parts.next().catch(afterFirst)
  }

  async return(): Promise<IteratorResult<TurnPart, void>> {
    await this.#parts?.return()
    return { done: true, value: undefined }
  }

  #first(): Promise<IteratorResult<TurnPart, void>> {
    return retried(async () => {
      const parts = this.#provider.stream(this.#request, this.#signal)
      const first = await parts.next()
      this.#parts = parts
      return first
    }, this.#signal)
  }
}

function afterFirst(error: unknown): never {
  if (!(error instanceof ProviderFault)) throw error
  const { kind, message, retryAfterMs, cause } = error
  throw new ProviderFault(kind, message, {
    afterFirstPart: true,
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** Tries again, after a while that differs from one caller to the next, what may succeed another time. */
export async function retried<Result>(attempt: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (err) {
      if (tries === triesMax || !mayRepeat(err)) throw err
      const wait = Math.max(err.retryAfterMs ?? 0, backoff(retryWaits, tries, Math.random))
      if (!(await sleep(wait, signal))) throw signal.reason
    }
  }
}

function mayRepeat(error: unknown): error is ProviderFault {
  if (!(error instanceof ProviderFault)) return false
  if (error.kind !== 'unavailable' && error.kind !== 'rate_limited') return false
  return (error.retryAfterMs ?? 0) <= retryAfterMaxMs
}

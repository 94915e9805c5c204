import { sleep } from '../std/clock.ts'

export interface HoldLeaseOptions {
  /** Prolongs the lease. False means that it now belongs to somebody else; a throw means "not known, ask again". */
  readonly renew: () => Promise<boolean>
  readonly everyMs: number
  /** How long one renewal is good for. A lease that could not be renewed for this long counts as lost. */
  readonly forMs: number
  /** The work's own signal; when it aborts, so does the holding's. */
  readonly signal?: AbortSignal
}

export interface HeldLease extends AsyncDisposable {
  /** Aborts when the lease is lost or the work is called off. Give it to everything the work waits for. */
  readonly signal: AbortSignal
}

/** The work went on longer than its lease, and somebody else may be doing it by now. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/**
 * Renews a lease for as long as the work lasts: `await using held = holdLease(…)`.
 * It renews only; taking the lease and giving it back belong to the one who named it.
 */
export function holdLease(options: HoldLeaseOptions): HeldLease {
  const { renew, everyMs, forMs } = options
  const lost = new AbortController()
  const signal = options.signal === undefined ? lost.signal : AbortSignal.any([lost.signal, options.signal])
  const lose = (reason: string) => lost.abort(new LeaseLost(reason))
  const armDeadline = () => setTimeout(() => lose(`not renewed for ${forMs} ms`), forMs)
  let deadline = armDeadline()
  let renewing: Promise<void> | null = null
  let over = false

  const renewOnce = async (): Promise<void> => {
    try {
      const kept = await renew()
      if (over) return
      clearTimeout(deadline)
      if (kept) deadline = armDeadline()
      else lose('taken by another holder')
    } catch {
      // PostgreSQL may be away for a moment. The deadline decides, not the single failure.
    } finally {
      renewing = null
    }
  }
  const timer = setInterval(() => {
    if (!signal.aborted) renewing ??= renewOnce()
  }, everyMs)

  return {
    signal,
    async [Symbol.asyncDispose]() {
      over = true
      clearInterval(timer)
      clearTimeout(deadline)
      // So that a renewal cannot overtake the release that follows. It may hang; the lease then passes by itself.
      const bound = new AbortController()
      if (renewing !== null) await Promise.race([renewing, sleep(forMs, bound.signal)])
      bound.abort()
    },
  }
}

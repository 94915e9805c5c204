const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Waits after each failure; the last one repeats. */
const waits = [5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour]
export const spanMs = 72 * hour
const jitter = 0.1
/** A last attempt is made at the very end of the span unless one came shortly before. */
const lastGapMs = 10 * minute

export interface Failure {
  /** Attempts made since the event was made due, this one included. */
  readonly made: number
  readonly firstAt: Date
  readonly now: Date
  /** What the receiver asked for, if anything. */
  readonly retryAfterMs: number | null
  /** 1 in production. Smaller shrinks every wait alike, so that three days can be watched in minutes. */
  readonly scale: number
  /** From 0 to 1. */
  readonly random: number
}

/** When to try again after a failed attempt, or null when the 72 hours are over. */
export function nextAttemptAt(failure: Failure): Date | null {
  const { made, firstAt, now, retryAfterMs, scale, random } = failure
  const end = firstAt.getTime() + spanMs * scale
  const left = end - now.getTime()
  if (left <= 0) return null
  const wait = waits[Math.min(made, waits.length) - 1] ?? 0
  const jittered = wait * scale * (1 + jitter * (2 * random - 1))
  // The receiver may postpone one attempt, but never past the end of the delivery.
  const wanted = Math.max(jittered, retryAfterMs ?? 0)
  if (wanted < left) return new Date(now.getTime() + wanted)
  return left >= lastGapMs * scale ? new Date(end) : null
}

const retryAfterMax = 72 * hour

/** Seconds or an HTTP date; anything else counts for nothing. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * second : Date.parse(header) - now.getTime()
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, retryAfterMax) : null
}

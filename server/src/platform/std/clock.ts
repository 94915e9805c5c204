import { assert } from './assert.ts'

export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** The longest time that a timer of the runtime can hold. */
export const SLEEP_MS_MAX = 2 ** 31 - 1

/** Waits. True when the time has passed, false as soon as the signal ends the wait; it never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  assert(ms >= 0 && ms <= SLEEP_MS_MAX, 'a sleep lasts from 0 to 2^31 - 1 milliseconds')
  if (signal?.aborted === true) return Promise.resolve(false)
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', wake)
      resolve(true)
    }, ms)
    signal?.addEventListener('abort', wake, { once: true })
  })
}

/** Raised in place of a result when the work did not end in time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** Waits for the work, but not for longer than the bound. Work that is late goes on unwatched. */
export async function bounded<T>(boundMs: number, work: () => Promise<T> | T): Promise<T> {
  const done = new AbortController()
  const late = sleep(boundMs, done.signal).then((passed) => {
    if (passed) throw new TimedOut(`not done within ${boundMs} ms`)
    // Nobody waits any more: the work came first.
    return undefined as never
  })
  try {
    return await Promise.race([Promise.resolve().then(work), late])
  } finally {
    done.abort()
  }
}

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

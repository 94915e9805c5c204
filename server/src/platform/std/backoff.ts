import { assert } from './assert.ts'

export interface BackoffOptions {
  /** The wait after the first failure. */
  baseMs: number
  maxMs: number
  factor: number
  /** Which part of a wait is left to chance, from 0 (none) to 1 (all of it). */
  jitter: number
}

/** How long to wait after the given number of failures, counted from 1. */
export function backoff(options: BackoffOptions, attempt: number, random: () => number): number {
  assert(Number.isInteger(attempt) && attempt >= 1, 'attempts are counted from 1')
  const { baseMs, maxMs, factor, jitter } = options
  // Many attempts grow to Infinity, which the maximum then bounds.
  const wait = Math.min(maxMs, baseMs * factor ** (attempt - 1))
  return Math.round(wait - wait * jitter * random())
}

import { Fault } from '#platform/errors/fault.ts'
import type { Asker } from '../domain/buckets.ts'

/** What work was told when it asked. */
export type Answer<T> =
  | { readonly is: 'in'; readonly given: T }
  /** There may be room after so long. `refuse` makes the error for who will not wait for that. */
  | { readonly is: 'later'; readonly waitMs: number; readonly refuse: () => Error; readonly note: () => void }
  /** Nobody could say. */
  | { readonly is: 'unknown'; readonly error: Error }

export interface Work<T> {
  ask(asker: Exclude<Asker, 'request'>): Promise<Answer<T>>
  /** It will not come again. `given`: it was let in after it had left. */
  left(given: T | null): void
}

/** Tests put another in its place to make time pass. */
export interface Time {
  now(): number
  /** Gives how to take it back. */
  wake(afterMs: number, run: () => void): () => void
}

interface Waiter<T> {
  readonly work: Work<T>
  /** Takes it out of the line. */
  readonly leave: (end: () => void) => void
  readonly resolve: (given: T) => void
  readonly reject: (reason: unknown) => void
  asking: boolean
  told: boolean
  hasSlot: boolean
  notBefore: number
  frontSince: number | null
}

/** So many ask at once while nobody is told to wait: nobody stands behind the round trip of another. */
export const asksMax = 32
/** A longer wait is no wait: limits of a day. */
export const patienceMs = 10 * 60_000
/** Others may take what becomes free, again and again; whoever stands in front for this long gives up. */
export const frontMsMax = 60 * 60_000
/** Limits may be raised meanwhile. No slot is promised further ahead. */
const sleepMsMax = 60_000
const sleepMsMin = 1
const unknownRetryMs = 1_000
const waitingMax = 10_000
const noteEveryMs = 1_000

const realTime: Time = {
  now: () => performance.now(),
  wake(afterMs, run) {
    const timer = setTimeout(run, afterMs)
    return () => clearTimeout(timer)
  },
}

/**
 * Work of one process that draws on the same buckets, in the order in which it came. The first few ask at once; from the
 * moment that one is told to wait only the first does, and the others stand behind it without asking anybody. Each that
 * is let in at once lets twice as many ask.
 */
export class WorkLine<T> {
  readonly #time: Time
  readonly #waiting = new Set<Waiter<T>>()
  #width = asksMax
  #unknownSince: number | null = null
  #notedAt = -Infinity
  #sleeping: (() => void) | null = null

  constructor(time: Time = realTime) {
    this.#time = time
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Resolves when it is let in. Rejects with the reason of the signal, or when waiting does not help. */
  async enter(work: Work<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#waiting.size >= waitingMax)
      throw new Fault('server_overloaded', 'Too much work waits for its limits.', { retryAfterMs: unknownRetryMs })
    return await new Promise<T>((resolve, reject) => {
      const abort = () => {
        this.#bequeath(waiter)
        waiter.leave(() => reject(signal.reason as Error))
        if (!waiter.asking) work.left(null)
      }
      const leave = (end: () => void) => {
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(waiter)
        end()
        // Not before all have left who leave together: each would ask, and take a slot, as the first for a moment.
        queueMicrotask(() => this.#move())
      }
      const waiting = { asking: false, told: false, hasSlot: false, notBefore: -Infinity, frontSince: null }
      const waiter: Waiter<T> = { work, leave, resolve, reject, ...waiting }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(waiter)
      this.#move()
    })
  }

  /** The slot of the first that leaves is for the next. */
  #bequeath(waiter: Waiter<T>): void {
    const [front, next] = this.#waiting
    if (front !== waiter || next === undefined) return
    next.hasSlot ||= waiter.hasSlot
    next.notBefore = Math.max(next.notBefore, waiter.notBefore)
  }

  /** Lets those in front ask who may. */
  #move(): void {
    this.#sleeping?.()
    this.#sleeping = null
    const now = this.#time.now()
    let place = 0
    for (const waiter of this.#waiting) {
      if (place === this.#width) return
      place += 1
      if (place === 1) waiter.frontSince ??= now
      if (waiter.asking) continue
      if (waiter.notBefore <= now) void this.#ask(waiter, place === 1)
      else if (place === 1) this.#sleeping = this.#time.wake(waiter.notBefore - now, () => this.#move())
    }
  }

  async #ask(waiter: Waiter<T>, isFront: boolean): Promise<void> {
    // Those behind the first take no slot: it would be one that nobody comes at, and hold up everyone else.
    const asker = isFront && !waiter.hasSlot ? 'work' : 'slot'
    waiter.asking = true
    try {
      const answer = await waiter.work.ask(asker)
      waiter.asking = false
      if (this.#waiting.has(waiter)) this.#hear(waiter, answer, asker)
      else waiter.work.left(answer.is === 'in' ? answer.given : null)
    } catch (error) {
      waiter.asking = false
      this.#refuse(waiter, error)
    }
  }

  #hear(waiter: Waiter<T>, answer: Answer<T>, asker: Asker): void {
    const now = this.#time.now()
    if (answer.is !== 'unknown') this.#unknownSince = null
    switch (answer.is) {
      case 'in': {
        const [front] = this.#waiting
        if (front === waiter ? !waiter.told : front?.told !== true) this.#width = Math.min(asksMax, 2 * this.#width)
        return waiter.leave(() => waiter.resolve(answer.given))
      }
      case 'later': {
        this.#width = 1
        if (answer.waitMs > patienceMs || now - (waiter.frontSince ?? now) > frontMsMax)
          return this.#refuse(waiter, answer.refuse())
        if (asker === 'work') waiter.hasSlot = true
        if (now - this.#notedAt >= noteEveryMs) {
          this.#notedAt = now
          answer.note()
        }
        return this.#wait(waiter, now + Math.max(sleepMsMin, Math.min(sleepMsMax, answer.waitMs)))
      }
      case 'unknown': {
        this.#width = 1
        this.#unknownSince ??= now
        if (now - this.#unknownSince > patienceMs) return this.#refuse(waiter, answer.error)
        return this.#wait(waiter, now + unknownRetryMs)
      }
    }
  }

  #wait(waiter: Waiter<T>, until: number): void {
    waiter.told = true
    waiter.notBefore = until
    this.#move()
  }

  #refuse(waiter: Waiter<T>, error: unknown): void {
    waiter.leave(() => waiter.reject(error))
    waiter.work.left(null)
  }
}

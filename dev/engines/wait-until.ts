import { setTimeout as delay } from 'node:timers/promises'

const POLL_INTERVAL_MS = 25

/** Asks again and again until the answer is true. Returns whether that happened within the bound. */
export async function becomesTrue(condition: () => boolean | Promise<boolean>, boundMs: number): Promise<boolean> {
  const deadline = performance.now() + boundMs
  while (true) {
    if (await condition()) return true
    if (performance.now() >= deadline) return false
    await delay(POLL_INTERVAL_MS)
  }
}

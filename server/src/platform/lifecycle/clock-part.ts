import type { Part } from './module.ts'

const SKEW_MS_MAX = 1000

/**
 * Compares the clock of this process with the database's, which decides expiry, leases and due times. Nothing breaks when
 * they differ, but times in logs and replies then mislead people.
 */
export function clockPart(clockSkewMs: () => Promise<number>): Part {
  return {
    name: 'clock',
    async ready() {
      const skewMs = Math.round(await clockSkewMs())
      if (Math.abs(skewMs) > SKEW_MS_MAX) return { ok: true, degraded: `${skewMs} ms off the database's clock` }
      return { ok: true, detail: `${skewMs} ms off the database's clock` }
    },
  }
}

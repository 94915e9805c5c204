/** Numbers and times as people read them. */

export const count = (value: number): string => value.toLocaleString('en-US')

const scoreParts = 10_000

/** Rounded down, so that a score does not look like the threshold that it missed. */
export const score = (value: number): string => String(Math.floor(value * scoreParts + 1e-9) / scoreParts)

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `2026-11-15 16:08 UTC` */
export const instant = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

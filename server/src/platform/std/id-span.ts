import { firstIdAt } from './ids.ts'

export interface TimeSpan {
  readonly from?: Date | null | undefined
  readonly to?: Date | null | undefined
}

const idTimeMaxMs = 2 ** 48 - 1

/**
 * Between which two ids things of a span of time lie. The time in an id is that of the machine that made it, and a little
 * earlier than what it names: `slackMs` is how far the two may be apart. Without a span: before and after every id.
 */
export function idSpan(prefix: string, { from, to }: TimeSpan, slackMs: number): { above: string; below: string } {
  const idAt = (ms: number) => firstIdAt(prefix, Math.min(Math.max(ms, 0), idTimeMaxMs))
  return {
    above: from == null ? prefix : idAt(from.getTime() - slackMs),
    below: to == null ? afterPrefix(prefix) : idAt(to.getTime() + slackMs),
  }
}

/** Sorts after everything that begins with the prefix. */
function afterPrefix(prefix: string): string {
  const last = prefix.length - 1
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1)
}

export const laterId = (a: string, b: string | null) => (b !== null && b > a ? b : a)
export const earlierId = (a: string, b: string | null) => (b !== null && b < a ? b : a)

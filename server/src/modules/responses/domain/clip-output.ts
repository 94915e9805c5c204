import type { ShellOutputEntry } from '@switchyard/contracts/responses/items.ts'

/**
 * Keeps an entry within `max` code points of stdout and stderr together: half for each, with what one does not need
 * going to the other, cut at the tail. (contract 1.8)
 */
export function clipOutput(entry: ShellOutputEntry, max: number | null): ShellOutputEntry {
  if (max === null) return entry
  const out = Array.from(entry.stdout)
  const err = Array.from(entry.stderr)
  if (out.length + err.length <= max) return entry
  const half = Math.floor(max / 2)
  const errRoom = Math.min(err.length, Math.max(half, max - out.length))
  const outRoom = Math.min(out.length, max - errRoom)
  return { ...entry, stdout: out.slice(0, outRoom).join(''), stderr: err.slice(0, errRoom).join('') }
}

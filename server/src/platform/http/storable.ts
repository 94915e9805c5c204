import { Fault } from '#platform/errors/fault.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import { clip, paramOf, type Path } from './param-path.ts'

/** The path of the first string, key or number that cannot be stored, innermost step last; null when all can. */
export function findUnstorable(value: unknown): Path | null {
  return search(value)?.toReversed() ?? null
}

/** Steps innermost first: they are gathered on the way out of the search, so that a good value costs no path. */
function search(value: unknown): PropertyKey[] | null {
  if (typeof value === 'string') return isStorable(value) ? null : []
  // `1e999` reads as Infinity, which JSON cannot write.
  if (typeof value === 'number') return Number.isFinite(value) ? null : []
  if (value === null || typeof value !== 'object') return null
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const found = search(value[at])
      if (found !== null) return [...found, at]
    }
    return null
  }
  for (const key of Object.keys(value)) {
    if (!isStorable(key)) return []
    const found = search((value as Record<string, unknown>)[key])
    if (found !== null) return [...found, key]
  }
  return null
}

export function refuseUnstorable(value: unknown): void {
  const path = findUnstorable(value)
  if (path === null) return
  throw new Fault(
    'invalid_value',
    'The request contains a value that cannot be stored: U+0000, half a surrogate pair, or a number out of range.',
    { param: path.length === 0 ? undefined : clip(paramOf(path)) },
  )
}

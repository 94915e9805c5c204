import { Fault } from '#platform/errors/fault.ts'
import { clip } from './param-path.ts'

export type Named = Record<string, unknown>

/** Without a prototype: a caller's `__proto__` is a name like any other. */
export const emptyNamed = (): Named => Object.create(null) as Named

/** Puts `name`, `name[]` (a list) or `name[key]` (a map): how SDKs write queries and multipart fields. */
export function putNamed(target: Named, name: string, value: string): void {
  const open = name.indexOf('[')
  if (open <= 0 || open !== name.lastIndexOf('[') || name.indexOf(']') !== name.length - 1) {
    putOnce(target, name, value)
    return
  }
  const base = name.slice(0, open)
  const key = name.slice(open + 1, -1)
  const held = (target[base] ??= key === '' ? [] : emptyNamed())
  if (key === '' && Array.isArray(held)) held.push(value)
  else if (key !== '' && typeof held === 'object' && !Array.isArray(held)) putOnce(held as Named, key, value)
  else throw new Fault('invalid_type', `'${clip(base)}' was sent in two shapes.`, { param: clip(base) })
}

/** A scalar sent twice becomes a list, which the schema then refuses by name: nothing is dropped in silence. */
function putOnce(target: Named, name: string, value: string): void {
  const held = target[name]
  if (held === undefined) target[name] = value
  else if (Array.isArray(held)) held.push(value)
  else target[name] = [held, value]
}

import { Fault } from '#platform/errors/fault.ts'

export type Named = Record<string, unknown>

/** Without a prototype: a caller's `__proto__` is a name like any other. */
export const emptyNamed = (): Named => Object.create(null) as Named

/** Puts `name`, `name[]` (a list) or `name[key]` (a map): how SDKs write queries and multipart fields. */
export function putNamed(target: Named, name: string, value: string): void {
  const shape = /^([^[\]]+)\[([^[\]]*)\]$/.exec(name)
  if (shape === null) {
    // A scalar sent twice becomes a list, which the schema then refuses by name.
    target[name] = name in target ? [target[name], value].flat() : value
    return
  }
  const [, base, key] = shape as unknown as [string, string, string]
  const held = (target[base] ??= key === '' ? [] : emptyNamed())
  if (key === '' && Array.isArray(held)) held.push(value)
  else if (key !== '' && typeof held === 'object' && held !== null && !Array.isArray(held)) (held as Named)[key] = value
  else throw new Fault('invalid_type', `'${base}' was sent in two shapes.`, { param: base.slice(0, 100) })
}

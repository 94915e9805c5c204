import type { Operation } from '@switchyard/contracts/operation.ts'
import { Fault } from '#platform/errors/fault.ts'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: string[]
}

export const noSuchPath = () => new Fault('not_found', 'There is no such path.')

function knownPaths(operations: readonly Operation[]): KnownPath[] {
  const byPath = new Map<string, string[]>()
  for (const { path, method } of operations) byPath.set(path, [...(byPath.get(path) ?? []), method])
  return [...byPath].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    methods,
  }))
}

/** 405 with the methods that exist, or 404. */
export function unknownPaths(operations: readonly Operation[]): (url: string) => Fault {
  const known = knownPaths(operations)
  return (url) => {
    const path = url.split('?', 1)[0] ?? ''
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((found) => found.methods)
    if (methods.length === 0) return noSuchPath()
    const allow = methods.join(', ')
    return new Fault('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
  }
}

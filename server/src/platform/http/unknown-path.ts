import type { Operation } from '@switchyard/contracts/operation.ts'
import { Fault } from '#platform/errors/fault.ts'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: string[]
}

export const noSuchPath = () => new Fault('not_found', 'There is no such path.')

const upgradeRequired = () =>
  new Fault('upgrade_required', 'This path is a WebSocket: send an upgrade.', {
    headers: { upgrade: 'websocket', connection: 'upgrade' },
  })

function knownPaths(operations: readonly Operation[]): KnownPath[] {
  const byPath = new Map<string, string[]>()
  for (const { path, method } of operations) byPath.set(path, [...(byPath.get(path) ?? []), method])
  return [...byPath].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    methods,
  }))
}

/** 426 where only a socket takes the method, 405 with the methods that exist, or 404. */
export function unknownPaths(
  operations: readonly Operation[],
  sockets: readonly Operation[],
): (method: string, url: string) => Fault {
  const known = knownPaths(operations)
  const socketPlaces = new Set(sockets.map(({ method, path }) => `${method} ${path}`))
  return (method, url) => {
    const path = url.split('?', 1)[0] ?? ''
    if (socketPlaces.has(`${method} ${path}`)) return upgradeRequired()
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((found) => found.methods)
    if (methods.length === 0) return noSuchPath()
    const allow = methods.join(', ')
    return new Fault('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
  }
}

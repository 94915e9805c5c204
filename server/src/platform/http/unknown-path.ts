import type { Operation } from '@switchyard/contracts/operation.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#platform/errors/fault.ts'

interface KnownPath {
  readonly pattern: RegExp
  readonly methods: string[]
}

function knownPaths(operations: readonly Operation[]): KnownPath[] {
  const byPath = new Map<string, string[]>()
  for (const { path, method } of operations) byPath.set(path, [...(byPath.get(path) ?? []), method])
  return [...byPath].map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    methods,
  }))
}

/** 405 with the methods that exist, or 404. */
export function answerUnknownPath(operations: readonly Operation[]) {
  const known = knownPaths(operations)
  return (request: FastifyRequest, _reply: FastifyReply): never => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((found) => found.methods)
    if (methods.length === 0) throw new Fault('not_found', 'There is no such path.')
    throw new Fault('method_not_allowed', `This path takes ${methods.join(', ')}.`, {
      headers: { allow: methods.join(', ') },
    })
  }
}

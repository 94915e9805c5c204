import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestFacts } from './route.ts'

/** What a route may ask about its request. The abort signal is made only when someone looks at it. */
export function openFacts(request: FastifyRequest, reply: FastifyReply): RequestFacts {
  let controller: AbortController | null = null
  return {
    id: request.id,
    get signal() {
      if (controller === null) {
        const made = new AbortController()
        controller = made
        reply.raw.once('close', () => {
          if (!reply.raw.writableFinished) made.abort()
        })
      }
      return controller.signal
    },
    header(name) {
      const value = request.headers[name]
      return Array.isArray(value) ? value[0] : value
    },
  }
}

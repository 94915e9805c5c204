import type { FastifyInstance } from 'fastify'

/** What browsers may read besides the body. */
const exposed = [
  'x-request-id',
  'openai-processing-ms',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
].join(', ')

const preflightSeconds = '600'

/** Off unless origins are given. `*` allows every origin; keys are sent in a header, never in cookies. */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  app.addHook('onRequest', (request, reply, done) => {
    const origin = request.headers.origin
    if (origin !== undefined && (origins.includes('*') || origins.includes(origin))) {
      reply.header('access-control-allow-origin', origin)
      reply.header('vary', 'origin')
      reply.header('access-control-expose-headers', exposed)
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        reply.header('access-control-allow-methods', 'GET, POST, DELETE')
        reply.header(
          'access-control-allow-headers',
          request.headers['access-control-request-headers'] ?? 'authorization, content-type',
        )
        reply.header('access-control-max-age', preflightSeconds)
        void reply.code(204).send()
        return
      }
    }
    done()
  })
}

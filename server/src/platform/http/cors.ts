import type { FastifyReply, FastifyRequest } from 'fastify'

/** What browsers may read besides the body. */
const exposed = [
  'x-request-id',
  'openai-processing-ms',
  'openai-version',
  'content-disposition',
  'content-range',
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

/** Puts the headers on a reply. True when the request was only a question (a preflight) and is answered with them. */
export type Cors = (request: FastifyRequest, reply: FastifyReply) => boolean

/** Off, that is null, unless origins are given. `*` allows every origin; keys are sent in a header, never in cookies. */
export function createCors(origins: readonly string[]): Cors | null {
  if (origins.length === 0) return null
  const all = origins.includes('*')
  const allowed = new Set(origins)
  return (request, reply) => {
    reply.header('vary', 'origin')
    const { origin, 'access-control-request-method': method } = request.headers
    if (origin === undefined || !(all || allowed.has(origin))) return false
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', exposed)
    if (request.method !== 'OPTIONS' || method === undefined) return false
    const asked = request.headers['access-control-request-headers'] ?? 'authorization, content-type'
    void reply
      .header('access-control-allow-methods', 'GET, POST, DELETE')
      .header('access-control-allow-headers', asked)
      .header('access-control-max-age', preflightSeconds)
      .code(204)
      .send()
    return true
  }
}

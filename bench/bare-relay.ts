/**
 * The twin of a model call: Fastify that lets everybody in, reads nothing of the body, and passes it on to the provider's
 * chat completions and the answer back, byte for byte.
 */
import { fastify } from 'fastify'
import { Pool } from 'undici'

export interface RelayOptions {
  readonly port: number
  readonly provider: string
  readonly connections: number
}

async function serve({ port, provider, connections }: RelayOptions): Promise<void> {
  const pool = new Pool(provider, { connections, pipelining: 1, allowH2: false })
  const headers = { 'content-type': 'application/json' }
  const app = fastify({ logger: false })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  app.get('/', async () => 'ready')
  app.post('/v1/*', async (request, reply) => {
    const body = request.body as Buffer
    const answer = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body })
    const type = String(answer.headers['content-type'])
    reply.code(answer.statusCode).header('content-type', type)
    return type === 'text/event-stream' ? answer.body : Buffer.from(await answer.body.arrayBuffer())
  })
  process.once('SIGTERM', () => process.exit())
  await app.listen({ host: '127.0.0.1', port })
}

await serve(JSON.parse(process.env['BENCH_OPTIONS'] ?? '') as RelayOptions)

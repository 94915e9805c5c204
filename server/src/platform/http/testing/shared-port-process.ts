import { createHttpServer } from '../server.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { route } from '../route.ts'
import { options, principals, thing } from './test-server.ts'
import { openGate } from '../gate.ts'

/** One of several processes on the same port. It answers with its own number and ends with its parent. */
async function main(port: number): Promise<void> {
  const none = async (): Promise<never> => {
    throw new Error('no database here')
  }
  const server = createHttpServer({
    routes: [route(thing({}), async () => ({ pid: process.pid }))],
    sockets: [],
    gate: openGate,
    authenticate: async (token) => principals[token] ?? null,
    idempotency: { begin: none },
    db: { tx: none },
    tracing: { spanFrom: (_headers, _name, _attributes, work) => work({ set: () => undefined }) },
    log: createLog({ level: 'silent', pretty: false, name: 'test' }),
    checkReplies: true,
    observe: () => undefined,
    options,
  })
  const address = await server.listen({ host: '127.0.0.1', port, reusePort: true })
  process.send?.({ port: address.port, pid: process.pid })
  process.once('disconnect', () => void server.close())
}

if (import.meta.main) await main(Number(process.argv[2]))

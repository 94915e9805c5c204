import type { Operation } from '@switchyard/contracts/operation.ts'
import type { AdAccountId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { z } from 'zod'
import { createLog, flushLog } from '#platform/telemetry/log.ts'
import type { Principal } from '../principal.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions, type HttpServerUse } from '../server.ts'
import { openGate } from '../gate.ts'

const keyId = 'key_1' as KeyId
const orgId = 'org-1' as OrgId
const projectId = 'proj_1' as ProjectId

/** Who the test keys belong to. */
export const principals: Record<string, Principal> = {
  'sk-proj-good': { scope: { kind: 'project_key', keyId, orgId, projectId }, granted: null },
  'sk-proj-narrow': { scope: { kind: 'project_key', keyId, orgId, projectId }, granted: new Set(['things.read']) },
  'sk-admin-good': { scope: { kind: 'admin_key', keyId, orgId }, granted: null },
  adsk_good: { scope: { kind: 'ads_key', keyId, orgId, adAccountId: 'adacct_1' as AdAccountId }, granted: null },
}

export const key = { authorization: 'Bearer sk-proj-good' }

export const options: HttpServerOptions = {
  corsOrigins: [],
  bodyBytesMax: 64 * 1024,
  requestTimeoutMs: 30_000,
  connectionsMax: 100,
  socketsMax: 10,
}

const plainThing = {
  id: 'things.test',
  method: 'GET',
  path: '/v1/things',
  summary: 'For a test.',
  auth: 'project_key',
  scope: 'things.write',
  reply: z.unknown(),
} as const

/** An operation on things, with everything that a test does not care about filled in. */
export function thing<const O extends Partial<Operation>>(declared: O): Omit<typeof plainThing, keyof O> & O {
  return { ...plainThing, ...declared }
}

export interface TestServer {
  readonly url: string
  readonly port: number
  readonly server: HttpServer
  readonly observed: { operation: string; status: number }[]
  /** The log so far, one value a line. */
  lines(): Promise<Record<string, unknown>[]>
}

export type TestServerGiven = Partial<Omit<HttpServerUse, 'options'>> & { options?: Partial<HttpServerOptions> }

/** The server of this folder on a port of its own, with keys that are always the same. */
export async function testServer(t: TestContext, given: TestServerGiven): Promise<TestServer> {
  const written: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  const log = createLog({ level: 'debug', pretty: false, name: 'test', destination })
  const observed: TestServer['observed'] = []
  const none = async (): Promise<never> => {
    throw new Error('this test has no database')
  }
  const server = createHttpServer({
    routes: [],
    sockets: [],
    gate: openGate,
    authenticate: async (token) => principals[token] ?? null,
    idempotency: { begin: none },
    db: { tx: none },
    tracing: { spanFrom: (_headers, _name, _attributes, work) => work({ set: () => undefined }) },
    log,
    checkReplies: true,
    observe: (name, status) => observed.push({ operation: name, status }),
    ...given,
    options: { ...options, ...given.options },
  })
  const { port }: AddressInfo = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    observed,
    async lines() {
      await flushLog(log)
      const lines = written.join('').split('\n')
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>)
    },
  }
}

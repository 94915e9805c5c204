import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { openDatabase, type Database } from '#platform/db/db.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { createSealer } from '#platform/secrets/seal.ts'
import { createIdempotency, type Idempotency } from '../idempotency.ts'
import type { Principal } from '../principal.ts'
import { route, uploadRoute } from '../route.ts'
import { principals, testServer, thing, type TestServer } from './test-server.ts'
import { uploadOperation } from './upload.ts'
import { openGate } from '../gate.ts'

export const create = thing({
  id: 'things.create',
  method: 'POST',
  creates: true,
  body: z.strictObject({ name: z.string(), fail: z.boolean().optional(), n: z.int().optional() }),
})
const other = thing({
  id: 'things.other',
  method: 'POST',
  path: '/v1/others',
  creates: true,
  body: z.strictObject({ name: z.string() }),
})
const secret = thing({
  id: 'things.secret',
  method: 'POST',
  path: '/v1/secrets',
  creates: true,
  showsSecret: true,
  body: z.strictObject({}),
})
const update = thing({
  id: 'things.update',
  method: 'POST',
  path: '/v1/updates',
  body: z.strictObject({ name: z.string() }),
})

export interface IdempotentApp extends TestServer {
  readonly db: Database
  readonly idempotency: Idempotency
  readonly discarded: string[]
  /** How many things exist. */
  things(): Promise<number>
  call(path: string, key: string | null, body: unknown, more?: Record<string, string>): Promise<CallResult>
}

export interface CallResult {
  readonly status: number
  readonly headers: Headers
  readonly body: { id?: number; name?: string; error?: { code: string; param: string | null } }
}

async function insertThing(tx: Tx, name: string): Promise<{ id: number; name: string }> {
  const { rows } = await sql<{
    id: number
    name: string
  }>`insert into thing (name) values (${name}) returning id, name`.execute(own(tx))
  return rows[0]!
}

/** A server whose creates insert a row each, on a database that is empty to begin with. */
export async function idempotentApp(t: TestContext, url: string): Promise<IdempotentApp> {
  const db = openDatabase({
    url,
    connectionsMax: 8,
    statementTimeoutMs: 10_000,
    applicationName: 'test',
    onIdleError: () => undefined,
  })
  await sql`create table if not exists thing (id bigint generated always as identity primary key, name text not null)`.execute(
    db.kysely,
  )
  await sql`truncate thing, platform.idempotency`.execute(db.kysely)
  const sealer = createSealer({ keys: [{ id: 't', key: randomBytes(32) }] })
  const idempotency = createIdempotency(db.as<PlatformTables>(), sealer)
  const discarded: string[] = []
  const routes = [
    route(create, async ({ body, commit }) =>
      commit(async (tx) => {
        const made = await insertThing(tx, body.name)
        if (body.fail === true) throw new Fault('invalid_value', 'As asked.')
        return made
      }),
    ),
    route(other, async ({ body, commit }) => commit((tx) => insertThing(tx, body.name))),
    route(secret, async ({ commit }) => commit((tx) => insertThing(tx, 'sk-proj-shown-once'))),
    route(update, async ({ body, commit }) => commit((tx) => insertThing(tx, body.name))),
    uploadRoute(
      { ...uploadOperation(10_000), path: '/v1/uploads' },
      {
        async receive({ stream }) {
          const text = Buffer.concat((await stream.toArray()) as Buffer[]).toString('utf8')
          return { sha256: text, text }
        },
        async discard({ text }) {
          discarded.push(text)
        },
      },
      async ({ file, commit }) => commit((tx) => insertThing(tx, file.text)),
    ),
  ]
  const second: Principal = {
    ...principals['sk-proj-good']!,
    scope: { ...principals['sk-proj-good']!.scope, projectId: 'proj_2' as ProjectId } as never,
  }
  const app = await testServer(t, {
    routes,
    db,
    idempotency,
    gate: openGate,
    authenticate: async (token) => (token === 'sk-proj-second' ? second : (principals[token] ?? null)),
  })
  t.after(async () => {
    await app.server.close()
    await db.close()
  })
  return {
    ...app,
    db,
    idempotency,
    discarded,
    async things() {
      const { rows } = await sql<{ n: number }>`select count(*) as n from thing`.execute(db.kysely)
      return rows[0]!.n
    },
    async call(path, key, body, more = {}) {
      const headers: Record<string, string> = { authorization: 'Bearer sk-proj-good', ...more }
      if (key !== null) headers['idempotency-key'] = key
      const form = body instanceof FormData
      if (!form) headers['content-type'] = 'application/json'
      const reply = await fetch(`${app.url}${path}`, {
        method: 'POST',
        headers,
        body: form ? body : JSON.stringify(body),
      })
      return { status: reply.status, headers: reply.headers, body: (await reply.json()) as CallResult['body'] }
    },
  }
}

import type { KeyId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { writeLastUsed } from '../store/authentication.ts'
import { findKey, keysOfProject } from '../store/keys.ts'
import type { OrgsTables } from '../store/tables.ts'
import { orgsOnly, type OrgsOnly } from '../testing/orgs-database.ts'
import { createLastUsed, notedKeysMax } from './last-used.ts'

const silent = createLog({ level: 'silent', pretty: false, name: 'test' })

async function lastUsed(at: OrgsOnly, id: KeyId): Promise<Date | null> {
  return (await findKey(at.db.kysely, keysOfProject(at.orgId, at.projectId), id))?.last_used_at ?? null
}

test('the use of a key is seen once it was written, and what is in hand is written on the way down', async (t) => {
  const at = await orgsOnly(t)
  const { orgs, orgId, projectId } = at
  const { key, keyId } = await orgs.mintProjectKey({ orgId, projectId, name: 'p' })
  const [part] = orgs.parts
  await part?.start?.()
  await orgs.authenticate(key)
  assert.equal(await lastUsed(at, keyId), null)
  await part?.drain?.()
  await part?.stop?.()
  const seen = await lastUsed(at, keyId)
  const now = await at.database.now()
  assert.ok(seen !== null && now.getTime() - seen.getTime() < 60_000)
})

test('a late note never moves the time back, and a row held by another is left alone', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  const [one, two] = [
    await at.orgs.mintProjectKey({ orgId, projectId, name: 'one' }),
    await at.orgs.mintProjectKey({ orgId, projectId, name: 'two' }),
  ]
  await writeLastUsed(at.db, [one.keyId], [0])
  const first = await lastUsed(at, one.keyId)
  await writeLastUsed(at.db, [one.keyId], [60_000])
  assert.deepEqual(await lastUsed(at, one.keyId), first)
  await at.db.tx(async (tx) => {
    await sql`select 1 from orgs.api_key where id = ${one.keyId} for update`.execute(tx.tables<unknown>())
    await writeLastUsed(at.db, [two.keyId, one.keyId], [0, 0])
  })
  assert.deepEqual(await lastUsed(at, one.keyId), first)
  assert.ok((await lastUsed(at, two.keyId)) !== null)
})

test('a database that is away loses the notes of a moment and stops nobody', async (t) => {
  const at = await orgsOnly(t)
  const gone = openDatabase({
    url: 'postgres://nobody:nothing@127.0.0.1:1/none',
    connectionsMax: 1,
    statementTimeoutMs: 1_000,
    applicationName: 'orgs test',
    onIdleError: () => undefined,
  })
  t.after(() => gone.close())
  const { keyId } = await at.orgs.mintProjectKey({ orgId: at.orgId, projectId: at.projectId, name: 'p' })
  const notes = createLastUsed({ db: gone.as<OrgsTables>(), log: silent })
  notes.note(keyId)
  await notes.write()
  assert.equal(await lastUsed(at, keyId), null)
})

test('notes are bounded: a key beyond the bound is noted after the next writing', async (t) => {
  const at = await orgsOnly(t)
  const { keyId } = await at.orgs.mintProjectKey({ orgId: at.orgId, projectId: at.projectId, name: 'p' })
  const notes = createLastUsed({ db: at.db, log: silent })
  for (let n = 0; n < notedKeysMax; n += 1) notes.note(`key_${n}` as KeyId)
  notes.note(keyId)
  await notes.write()
  assert.equal(await lastUsed(at, keyId), null)
  notes.note(keyId)
  await notes.write()
  assert.ok((await lastUsed(at, keyId)) !== null)
})

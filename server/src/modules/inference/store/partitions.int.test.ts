import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepDays, listDays } from '#platform/db/day-partitions.ts'
import { newId } from '#platform/std/ids.ts'
import { testApp } from '../../../../test/test-app.ts'
import { storedCompletion } from '../domain/stored-completion.ts'
import { findCompletion, insertCompletion } from './completions.ts'
import { dayTables } from './partitions.ts'
import type { InferenceTables } from './tables.ts'

const dayMs = 86_400_000
const retentionDays = 30

test('stored chat completions are kept for the days that were set, and go a day at a time', async (t) => {
  const app = await testApp(t)
  const db = app.db.as<InferenceTables>()
  const keep = (at: number) => keepDays(app.db, dayTables, new Date(at), retentionDays)
  const now = Date.now()
  await keep(now)
  const store = async (at: number) => {
    const id = newId('chatcmpl-', at)
    const created = Math.floor(at / 1_000)
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const completion = { id, object: 'chat.completion' as const, created, model: 'm', choices: [], usage }
    const body = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello.' }] }
    await insertCompletion(db, app.project.id, storedCompletion(body, completion, 'req_1', at))
    return async () => (await findCompletion(db, app.project.id, id)) !== null
  }
  // The first came before any day had its partition.
  const isThere = [await store(now), await store(now + dayMs), await store(now + 2 * dayMs)]
  await keep(now + retentionDays * dayMs)
  assert.deepEqual(await Promise.all(isThere.map((there) => there())), [true, true, true])
  await keep(now + (retentionDays + 2) * dayMs)
  assert.deepEqual(await Promise.all(isThere.map((there) => there())), [false, false, true])
  assert.ok((await listDays(app.db, dayTables)).length > 7)
})

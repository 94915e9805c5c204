import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '#platform/std/ids.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { keepPartitions } from '../steps/keep-partitions.ts'
import { listDays } from '#platform/db/day-partitions.ts'
import { dayTables } from './partitions.ts'
import type { WebhooksTables } from './tables.ts'

const at = (day: string) => new Date(`${day}T12:00:00Z`)
const retentionDays = 30

async function addEvent(app: TestApp, day: string): Promise<string> {
  const id = newId('evt_', at(day).getTime())
  await sql`insert into webhooks.event (id, project_id, type, created_at, body)
    values (${id}, 'proj_1', 'batch.failed', ${at(day)}, '{}')`.execute(app.db.kysely)
  await sql`insert into webhooks.attempt (event_id, endpoint_id, number, at, duration_ms, url, outcome)
    values (${id}, 'whe_1', 1, ${at(day)}, 1, 'https://example.com/', 'delivered')`.execute(app.db.kysely)
  return id
}

/** In which table a row lies, for the event and for its attempt; null when it is gone. */
async function homesOf(app: TestApp, id: string): Promise<(string | null)[]> {
  const { rows } = await sql<{ event: string | null; attempt: string | null }>`select
    (select tableoid::regclass::text from webhooks.event where id = ${id}) as event,
    (select tableoid::regclass::text from webhooks.attempt where event_id = ${id}) as attempt`.execute(app.db.kysely)
  return [rows[0]?.event ?? null, rows[0]?.attempt ?? null]
}

const keep = (app: TestApp, day: string) => keepPartitions(app.db.as<WebhooksTables>(), at(day), retentionDays)
const daysOf = (app: TestApp) => listDays(app.db, dayTables)

test('days are made a week ahead and dropped whole after the retention', async (t) => {
  const app = await testApp(t)
  assert.equal(await keep(app, '2031-03-01'), 0)
  const week = ['20310302', '20310303', '20310304', '20310305', '20310306', '20310307', '20310308']
  assert.deepEqual(await daysOf(app), week)
  const id = await addEvent(app, '2031-03-02')
  assert.deepEqual(await homesOf(app, id), ['webhooks.event_20310302', 'webhooks.attempt_20310302'])
  assert.equal(await keep(app, '2031-04-01'), 0, 'thirty days are kept')
  assert.deepEqual((await homesOf(app, id))[0], 'webhooks.event_20310302')
  assert.equal(await keep(app, '2031-04-02'), 1)
  assert.deepEqual(await homesOf(app, id), [null, null])
  assert.deepEqual((await daysOf(app)).slice(0, 2), ['20310303', '20310304'])
  assert.equal((await daysOf(app)).at(-1), '20310409')
})

test('events that came before their partition stay readable, and go after the same time', async (t) => {
  const app = await testApp(t)
  const today = await addEvent(app, '2031-03-01')
  const tomorrow = await addEvent(app, '2031-03-02')
  await keep(app, '2031-03-01')
  assert.deepEqual(await homesOf(app, today), ['webhooks.event_other', 'webhooks.attempt_other'])
  assert.deepEqual(await homesOf(app, tomorrow), ['webhooks.event_other', 'webhooks.attempt_other'])
  assert.deepEqual((await daysOf(app))[0], '20310303', 'that day goes without, the others have theirs')
  await keep(app, '2031-04-01')
  assert.deepEqual(await homesOf(app, today), [null, null])
  assert.notEqual((await homesOf(app, tomorrow))[0], null)
})

test('a delivery that was made due again goes with its event', async (t) => {
  const app = await testApp(t)
  const id = await addEvent(app, '2031-03-01')
  await sql`insert into webhooks.due (endpoint_id, event_id, lane, due_at) values ('whe_1', ${id}, 1, clock_timestamp())`.execute(
    app.db.kysely,
  )
  await keep(app, '2031-04-05')
  const { rows } = await sql`select 1 from webhooks.due`.execute(app.db.kysely)
  assert.equal(rows.length, 0)
})

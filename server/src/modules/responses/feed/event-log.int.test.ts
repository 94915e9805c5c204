import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openDatabase, type Db } from '#platform/db/db.ts'
import { newId } from '#platform/std/ids.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { testDatabase } from '../../../../test/test-database.ts'
import { listEventsAfter, listEventsPage, type EventBatch } from '../store/events.ts'
import { insertResponse } from '../store/lifecycle.ts'
import { claimStep } from '../store/running.ts'
import type { ResponsesTables } from '../store/tables.ts'
import { testAsked } from '../testing/asked.ts'
import { EventLog } from './event-log.ts'

const log = createLog({ level: 'silent', pretty: false, name: 'test' })
const rowsMax = 100

async function openLog(t: TestContext) {
  const database = await testDatabase()
  const opened = openDatabase({
    url: database.url,
    connectionsMax: 4,
    statementTimeoutMs: 5_000,
    applicationName: 'test',
    onIdleError: () => undefined,
  })
  t.after(async () => {
    await opened.close()
    await database.drop()
  })
  const db = opened.as<ResponsesTables>()
  const announced: EventBatch[] = []
  return { db, announced, events: new EventLog({ db, log, announce: (batches) => void announced.push(...batches) }) }
}

async function running(db: Db<ResponsesTables>): Promise<string> {
  const id = newId('resp_')
  await insertResponse(db, {
    id,
    projectId: 'proj_1',
    metering: null,
    asked: testAsked({ background: true }),
    previousId: null,
    conversationId: null,
    conversationVersion: null,
    input: [],
    node: null,
    submitted: true,
    nextNumber: 0,
  })
  return id
}

test('of two attempts that write at once, only what the living one stored is told to anybody', async (t) => {
  const { db, announced, events } = await openLog(t)
  const responseId = await running(db)
  const dead = await claimStep(db, responseId, 0)
  const living = await claimStep(db, responseId, 0)
  assert.ok(dead !== null && living !== null)
  const lost: string[] = []
  const logOf = (name: string, attempt: number) => ({ responseId, attempt, onLost: () => void lost.push(name) })
  const [before, now] = [logOf('dead', dead.attempt), logOf('living', living.attempt)]
  await Promise.all([events.write(before, 0, '{"from":"dead"}'), events.write(now, 0, '{"from":"living"}')])
  await t.waitFor(() => assert.deepEqual(lost, ['dead']), { timeout: 5_000 })
  assert.deepEqual(
    announced.map(({ lines }) => lines),
    ['{"from":"living"}'],
  )
  const stored = await listEventsAfter(db, responseId, -1, rowsMax)
  assert.deepEqual(stored, announced)
})

test('rows are closed when they are large, so that a reader holds a part and never the whole', async (t) => {
  const { db, events } = await openLog(t)
  const responseId = await running(db)
  const claimed = await claimStep(db, responseId, 0)
  assert.ok(claimed !== null)
  const attempt = { responseId, attempt: claimed.attempt, onLost: () => assert.fail('it is not lost') }
  const line = JSON.stringify({ text: 'x'.repeat(50_000) })
  const count = 40
  for (let number = 0; number < count; number += 1) void events.write(attempt, number, line)
  await t.waitFor(async () => {
    const stored = await listEventsAfter(db, responseId, -1, rowsMax)
    assert.equal(stored.at(-1)?.last, count - 1)
  })
  const stored = await listEventsAfter(db, responseId, -1, rowsMax)
  assert.deepEqual(
    stored.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_none, at) => first + at)),
    Array.from({ length: count }, (_none, at) => at),
  )
  assert.ok(stored.every(({ first, last, lines }) => lines.split('\n').length === last - first + 1))
  assert.ok(stored.every(({ lines }) => lines.length < 200_000))
  const page = await listEventsPage(db, responseId, -1, { rowsMax, bytesMax: 200_000 })
  assert.equal(page.length, 2)
})

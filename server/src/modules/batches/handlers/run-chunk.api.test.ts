import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelBatch } from '@switchyard/contracts/batches.ts'
import { listChatCompletions } from '@switchyard/contracts/stored-completions.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { batchLine } from '../testing/batch-lines.ts'
import { batchesKit } from '../testing/batches-kit.ts'

const boundMs = 20_000

test('lines of a batch', async (t) => {
  const kit = await batchesKit(t, { SWITCHYARD_BATCHES_CONCURRENCY: '2' })

  await t.test('a line that fails is told in the error file, and the others go on', async () => {
    kit.app.double.decide((body) => {
      const asked = JSON.stringify(body)
      return asked.includes('refuse me') ? { status: 400 } : 'Fine.'
    })
    const { id } = await kit.create(
      [
        batchLine('/v1/chat/completions', 'good', 'Hello.'),
        batchLine('/v1/chat/completions', 'unknown', 'Hello.', { surprise: true }),
        batchLine('/v1/chat/completions', 'refused', 'refuse me'),
        batchLine('/v1/chat/completions', 'also good', 'Hello.'),
      ],
      '/v1/chat/completions',
    )
    const ended = await kit.ended(id)
    assert.deepEqual([ended.status, ended.request_counts], ['completed', { total: 4, completed: 2, failed: 2 }])
    const good = await kit.linesOf(ended.output_file_id)
    assert.deepEqual(
      good.map(({ custom_id: customId }) => customId),
      ['good', 'also good'],
    )
    const failed = await kit.linesOf(ended.error_file_id)
    const reasons = failed.map(({ custom_id: customId, response, error }) => {
      const told = response?.body['error'] as { code: string } | undefined
      return [customId, response?.status_code, told?.code, error]
    })
    assert.deepEqual(reasons, [
      ['unknown', 400, 'unknown_parameter', null],
      ['refused', 502, 'provider_error', null],
    ])
    assert.ok(failed.every(({ response }) => response?.request_id.startsWith('req_')))
  })

  await t.test('a chat completion of a line is stored when the line asks for it', async () => {
    kit.app.double.decide(() => 'Kept.')
    const lines = [
      batchLine('/v1/chat/completions', 'kept', 'Hello.', { store: true, metadata: { line: 'kept' } }),
      batchLine('/v1/chat/completions', 'not kept', 'Hello.'),
    ]
    const ended = await kit.ended((await kit.create(lines, '/v1/chat/completions')).id)
    const [first] = await kit.linesOf(ended.output_file_id)
    const { body } = await kit.app.call(listChatCompletions)
    assert.deepEqual(
      body.data.map(({ id, request_id: requestId, metadata }) => [id, requestId, metadata]),
      [[first?.response?.body['id'], first?.response?.request_id, { line: 'kept' }]],
    )
  })

  const kept = async () => {
    const { rows } = await sql<{ responses: number; failures: number }>`
      select (select count(*)::int from responses.response) as responses,
        (select count(*)::int from webhooks.event where type = 'response.failed') as failures`.execute(
      kit.app.db.kysely,
    )
    return rows[0]
  }

  for (const endpoint of ['/v1/responses', '/v1/chat/completions'] as const) {
    await t.test(`a provider that has no room is asked again until it has, on ${endpoint}`, async () => {
      let refusals = 0
      kit.app.double.decide(() => {
        refusals += 1
        return refusals <= 12 ? { status: refusals % 2 === 0 ? 429 : 503 } : 'At last.'
      })
      const before = await kept()
      const { id } = await kit.ask(['one', 'two', 'three'], endpoint)
      const ended = await kit.ended(id)
      assert.deepEqual([ended.status, ended.request_counts], ['completed', { total: 3, completed: 3, failed: 0 }])
      // What came to nothing left nothing: no response that failed, and no event of one.
      const after = await kept()
      const responses = endpoint === '/v1/responses' ? 3 : 0
      assert.deepEqual(after, { responses: (before?.responses ?? 0) + responses, failures: before?.failures })
    })
  }

  await t.test('a batch that is cancelled keeps what was done and begins nothing more', async () => {
    kit.app.double.decide(() => ({ text: 'Slow.', slowMs: 100 }))
    const asked = kit.app.double.requests.length
    const { id } = await kit.ask(Array.from({ length: 250 }, (_, at) => `line ${at}`))
    const some = async () => (await kit.read(id)).request_counts.completed >= 3
    assert.ok(await becomesTrue(some, boundMs))
    const cancelled = await kit.app.call(cancelBatch, { params: { batch_id: id } })
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelling'])
    assert.equal((await kit.app.call(cancelBatch, { params: { batch_id: id } })).status, 200, 'asked again')
    const ended = await kit.ended(id)
    assert.equal(ended.status, 'cancelled')
    const { completed, failed, total } = ended.request_counts
    assert.ok(completed >= 3 && completed < 250 && failed === 0 && total === 250, JSON.stringify(ended.request_counts))
    const lines = await kit.linesOf(ended.output_file_id)
    assert.equal(lines.length, completed)
    assert.equal(kit.app.double.requests.length - asked, completed)
    assert.equal(ended.error_file_id, undefined)
    assert.deepEqual(await kit.news(id), ['batch.cancelled'])
    const again = await kit.app.call(cancelBatch, { params: { batch_id: id } })
    assert.deepEqual([again.status, again.error.code], [409, 'invalid_state_transition'])
  })

  await t.test('when the 24 hours are over, lines that were not done are told as expired', async () => {
    kit.app.double.decide((body) =>
      JSON.stringify(body).includes('"line 0"') ? 'Quick.' : { status: 429, headers: { 'retry-after': '60' } },
    )
    const { id } = await kit.ask(Array.from({ length: 120 }, (_, at) => `line ${at}`))
    assert.ok(await becomesTrue(async () => (await kit.read(id)).request_counts.completed === 1, boundMs))
    await sql`update batches.batch set expires_at = clock_timestamp() where id = ${id}`.execute(kit.app.db.kysely)
    const ended = await kit.ended(id)
    assert.deepEqual([ended.status, ended.request_counts], ['expired', { total: 120, completed: 1, failed: 119 }])
    assert.equal((await kit.linesOf(ended.output_file_id)).length, 1)
    const errors = await kit.linesOf(ended.error_file_id)
    assert.deepEqual(
      errors.map(({ custom_id: customId, response, error }) => [customId, response, error?.code]),
      Array.from({ length: 119 }, (_, at) => [`line-${at + 1}`, null, 'batch_expired']),
    )
    assert.deepEqual(await kit.news(id), ['batch.expired'])
  })

  await t.test('a worker that is told to end finishes the lines in hand and begins no other', async () => {
    kit.app.double.decide(() => ({ text: 'Slow.', slowMs: 100 }))
    const asked = kit.app.double.requests.length
    const { id } = await kit.ask(Array.from({ length: 250 }, (_, at) => `line ${at}`))
    assert.ok(await becomesTrue(() => kit.app.double.requests.length - asked >= 5, boundMs))
    assert.equal(await kit.app.drain(), true)
    const { rows } = await sql<{ done: number; open: number }>`
      select (select count(*)::int from batches.result where batch_id = ${id}) as done,
        (select count(*)::int from batches.chunk where batch_id = ${id} and status <> 'done') as open`.execute(
      kit.app.db.kysely,
    )
    const done = kit.app.double.requests.length - asked
    assert.ok(done < 250)
    assert.deepEqual(rows, [{ done, open: 3 }])
  })
})

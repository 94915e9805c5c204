import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchEndpoints, createBatch, type BatchEndpoint } from '@switchyard/contracts/batches.ts'
import { createResponse, retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { snapshotOf } from '../../../../test/double-models.ts'
import { batchLine } from '../testing/batch-lines.ts'
import { batchesKit, type BatchesKit, type FileLine } from '../testing/batches-kit.ts'

const textOf: Readonly<Record<BatchEndpoint, (body: never) => string | undefined>> = {
  '/v1/responses': (body: { output: { content: { text: string }[] }[] }) => body.output[0]?.content[0]?.text,
  '/v1/chat/completions': (body: { choices: { message: { content: string } }[] }) => body.choices[0]?.message.content,
  '/v1/completions': (body: { choices: { text: string }[] }) => body.choices[0]?.text,
}

async function ledger({ app }: BatchesKit, operation: string) {
  const { rows } = await sql<{ rows: number; input: number; output: number; requests: number }>`
    select count(*)::int as rows, coalesce(sum(input_tokens), 0) as input, coalesce(sum(output_tokens), 0) as output,
      count(distinct request_id)::int as requests
    from limits.usage where batch and operation = ${operation}`.execute(app.db.kysely)
  return rows[0]
}

// S3-1.2-a
test('the lines of a file run, each once, and come back in their order', async (t) => {
  const kit = await batchesKit(t)
  const texts = Array.from({ length: 130 }, (_, at) => `say ${at} again`)
  const operations = ['responses', 'chat_completions', 'completions']
  for (const [at, endpoint] of batchEndpoints.entries()) {
    await t.test(endpoint, async () => {
      const asked = kit.app.double.requests.length
      const made = await kit.ask(texts, endpoint)
      assert.deepEqual([made.status, made.object, made.endpoint], ['validating', 'batch', endpoint])
      assert.equal(made.expires_at, made.created_at + 86_400)
      const ended = await kit.ended(made.id)
      assert.equal(ended.status, 'completed', JSON.stringify(ended))
      assert.deepEqual(ended.request_counts, { total: texts.length, completed: texts.length, failed: 0 })
      assert.deepEqual(
        [ended.model, ended.error_file_id, ended.errors],
        [snapshotOf('double-chat'), undefined, undefined],
      )
      const lines = await kit.linesOf(ended.output_file_id)
      assert.deepEqual(
        lines.map((line) => [line.custom_id, line.error, textOf[endpoint](line.response?.body as never)]),
        texts.map((text, n) => [`line-${n}`, null, text]),
      )
      assert.equal(new Set(lines.map(({ id }) => id)).size, texts.length)
      assert.equal(kit.app.double.requests.length - asked, texts.length)
      const recorded = await ledger(kit, operations[at] ?? '')
      assert.deepEqual(
        [recorded?.rows, recorded?.requests, recorded?.input, recorded?.output],
        [texts.length, texts.length, ended.usage?.input_tokens, ended.usage?.output_tokens],
      )
      assert.ok((ended.usage?.output_tokens ?? 0) > 0)
      assert.deepEqual(await kit.news(made.id), ['batch.completed'])
    })
  }

  await t.test('a response of a line is stored as any other, unless it asks not to be', async () => {
    const { id } = await kit.create([
      batchLine('/v1/responses', 'kept', 'Keep this.'),
      batchLine('/v1/responses', 'dropped', 'Drop this.', { store: false }),
    ])
    const [kept, dropped] = await kit.linesOf((await kit.ended(id)).output_file_id)
    const found = async (line: FileLine | undefined) => {
      const params = { response_id: String(line?.response?.body['id']) }
      return (await kit.app.call(retrieveResponse, { params })).status
    }
    assert.deepEqual([await found(kept), await found(dropped)], [200, 404])
    const next = { model: 'double-chat', input: 'Go on.', previous_response_id: kept?.response?.body['id'] }
    assert.equal((await kit.app.call(createResponse, { body: next })).status, 200)
  })

  await t.test('nothing but the two files is left of its lines', async () => {
    const left = async () => {
      const { rows } = await sql<{ count: number }>`
        select (select count(*) from batches.line) + (select count(*) from batches.result)
          + (select count(*) from batches.chunk) as count`.execute(kit.app.db.kysely)
      return rows[0]?.count
    }
    assert.ok(await becomesTrue(async () => (await left()) === 0, 15_000), `${await left()} rows are left`)
  })

  await t.test('a file expires when the batch says so', async () => {
    const line = batchLine('/v1/completions', 'a', 'Hello.')
    const more = { output_expires_after: { anchor: 'created_at', seconds: 3_600 }, metadata: { run: '7' } } as const
    const { id } = await kit.create([line], '/v1/completions', more)
    const ended = await kit.ended(id)
    assert.deepEqual(ended.metadata, { run: '7' })
    const { rows } = await sql<{ seconds: number; purpose: string; filename: string }>`
      select extract(epoch from expires_at - date_trunc('second', created_at))::int as seconds, purpose, filename
      from files.file where id = ${ended.output_file_id}`.execute(kit.app.db.kysely)
    assert.deepEqual(rows, [{ seconds: 3_600, purpose: 'batch_output', filename: `${id}_output.jsonl` }])
  })

  await t.test('a batch is refused when its file or its endpoint will not do', async () => {
    const { app } = kit
    const file = await newFile(app, '{}', { fields: { purpose: 'batch' } })
    const other = await newFile(app, '{}', { fields: { purpose: 'batch' }, key: app.other.key })
    const evals = await newFile(app, '{}', { fields: { purpose: 'evals' } })
    const body = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
    const refusals: [object, number, string, string][] = [
      [{ input_file_id: other.id }, 404, 'not_found', 'input_file_id'],
      [{ input_file_id: 'file-none' }, 404, 'not_found', 'input_file_id'],
      [{ input_file_id: evals.id }, 400, 'invalid_value', 'input_file_id'],
      [{ endpoint: '/v1/embeddings' }, 400, 'unsupported_value', 'endpoint'],
      [{ endpoint: '/v1/files' }, 400, 'invalid_value', 'endpoint'],
      [{ completion_window: '1h' }, 400, 'invalid_value', 'completion_window'],
      [{ surprise: 1 }, 400, 'unknown_parameter', 'surprise'],
    ]
    for (const [more, status, code, param] of refusals) {
      const reply = await app.call(createBatch, { body: { ...body, ...more } })
      assert.deepEqual([reply.status, reply.error.code, reply.error.param], [status, code, param], reply.text)
    }
  })
})

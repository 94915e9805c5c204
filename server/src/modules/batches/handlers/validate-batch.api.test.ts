import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatch } from '@switchyard/contracts/batches.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { sql } from 'kysely'
import { batchLine } from '../testing/batch-lines.ts'
import { batchesKit } from '../testing/batches-kit.ts'

const line = (customId: string, more: object = {}) => batchLine('/v1/responses', customId, 'Hello.', more)

test('the input file of a batch', async (t) => {
  const kit = await batchesKit(t)

  await t.test('a file with mistakes fails as a whole, and each mistake is told with its line', async () => {
    const { id } = await kit.create([
      line('a'),
      line('a'),
      { ...line('b'), url: '/v1/completions' },
      line('c', { stream: true }),
      line('e', { model: 'double-anthropic' }),
      line('f', { model: 'none' }),
    ])
    const ended = await kit.ended(id)
    assert.deepEqual([ended.status, ended.output_file_id, ended.error_file_id], ['failed', undefined, undefined])
    assert.deepEqual(
      ended.errors?.data.map(({ code, param, line: at }) => [code, param, at]),
      [
        ['duplicate_custom_id', 'custom_id', 2],
        ['invalid_url', 'url', 3],
        ['unsupported_value', 'body.stream', 4],
        ['mismatched_model', 'body.model', 5],
        ['model_not_found', 'body.model', 6],
      ],
    )
    assert.equal(ended.failed_at !== undefined && ended.completed_at === undefined, true)
    assert.deepEqual(await kit.news(id), ['batch.failed'])
    assert.equal(kit.app.double.requests.length, 0)
  })

  await t.test('a line with domain_secrets is an error of its own and copied nowhere; the others go on', async () => {
    const canary = 'canary-4711'
    const secret = { domain: 'a.example', name: 'TOKEN', value: canary }
    const policy = { type: 'allowlist', allowed_domains: ['a.example'], domain_secrets: [secret] }
    const shell = { type: 'shell', environment: { type: 'container_auto', network_policy: policy } }
    const { id } = await kit.create([line('a'), line('b', { tools: [shell] }), line('c')])
    const ended = await kit.ended(id)
    assert.deepEqual([ended.status, ended.request_counts], ['completed', { total: 3, completed: 2, failed: 1 }])
    const [told] = await kit.linesOf(ended.error_file_id)
    const fault = told?.response?.body['error'] as { code: string; param: string }
    assert.deepEqual([told?.custom_id, fault.code, fault.param], ['b', 'secrets_not_allowed', 'tools[0]'])
    const output = await kit.linesOf(ended.output_file_id)
    assert.doesNotMatch(JSON.stringify([ended, told, output]) + (await kit.app.log()), new RegExp(canary))
    const { rows } = await sql<{ found: boolean }>`
      select exists (select 1 from batches.batch b where to_jsonb(b)::text like ${`%${canary}%`})
        or exists (select 1 from batches.line l where to_jsonb(l)::text like ${`%${canary}%`})
        or exists (select 1 from batches.result r where to_jsonb(r)::text like ${`%${canary}%`}) as found`.execute(
      kit.app.db.kysely,
    )
    assert.deepEqual(rows, [{ found: false }])
  })

  await t.test('a file without a line, and one that was deleted in between, fail and say so', async () => {
    const make = async (content: string) => {
      const file = await newFile(kit.app, content, { fields: { purpose: 'batch' } })
      const body = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
      return (await kit.app.call(createBatch, { body })).body
    }
    const empty = await kit.ended((await make('\n \r\n\n')).id)
    assert.deepEqual([empty.status, empty.errors?.data[0]?.code], ['failed', 'empty_file'])
    const broken = await kit.ended((await make('{"custom_id": \n')).id)
    assert.deepEqual(
      [broken.status, broken.errors?.data[0]?.code, broken.errors?.data[0]?.line],
      ['failed', 'invalid_json_line', 1],
    )
  })

  await t.test('blank lines and lines that end with CR are read as JSONL is everywhere', async () => {
    const content = `\n${JSON.stringify(line('a'))}\r\n\r\n${JSON.stringify(line('b'))}`
    const file = await newFile(kit.app, content, { fields: { purpose: 'batch' } })
    const body = { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
    const { id } = (await kit.app.call(createBatch, { body })).body
    const ended = await kit.ended(id)
    assert.deepEqual(ended.request_counts, { total: 2, completed: 2, failed: 0 })
  })
})

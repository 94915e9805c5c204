import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConflictError, NotFoundError, toFile, type OpenAI } from 'openai'
import type { Batch } from 'openai/resources/batches'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { snapshotOf } from '../../server/test/double-models.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const boundMs = 60_000

const line = (at: number) => ({
  custom_id: `request-${at}`,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'double-chat', messages: [{ role: 'user', content: `Say ${at}.` }] },
})

async function upload(client: OpenAI, lines: readonly object[]): Promise<string> {
  const content = lines.map((one) => `${JSON.stringify(one)}\n`).join('')
  const file = await client.files.create({ file: await toFile(Buffer.from(content), 'in.jsonl'), purpose: 'batch' })
  return file.id
}

const create = async (client: OpenAI, lines: readonly object[]) =>
  await client.batches.create({
    input_file_id: await upload(client, lines),
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { nightly: 'yes' },
  })

async function ended(client: OpenAI, id: string): Promise<Batch> {
  const over = async () => /completed|failed|expired|cancelled/.test((await client.batches.retrieve(id)).status)
  assert.ok(await becomesTrue(over, boundMs), `${id} ends`)
  return await client.batches.retrieve(id)
}

test('a batch made with the SDK runs, is polled, and its output is read as the guides of the SDK do', async () => {
  const client = stack().project()
  const batch = await create(client, [line(1), line(2), line(3)])
  assert.equal(batch.object, 'batch')
  assert.match(batch.id, /^batch_[0-9a-z]{26}$/)
  const done = await ended(client, batch.id)
  assert.deepEqual(
    [done.status, done.request_counts, done.model, done.metadata],
    ['completed', { total: 3, completed: 3, failed: 0 }, snapshotOf('double-chat'), { nightly: 'yes' }],
  )
  const content = await client.files.content(done.output_file_id ?? '')
  const lines = (await content.text()).trim().split('\n')
  const read = lines.map((text) => {
    const { custom_id: customId, response } = JSON.parse(text) as {
      custom_id: string
      response: { status_code: number; body: OpenAI.Chat.ChatCompletion }
    }
    return [customId, response.status_code, response.body.choices[0]?.message.content]
  })
  assert.deepEqual(read, [
    ['request-1', 200, 'Say 1.'],
    ['request-2', 200, 'Say 2.'],
    ['request-3', 200, 'Say 3.'],
  ])
  const file = await client.files.retrieve(done.output_file_id ?? '')
  assert.equal(file.purpose, 'batch_output')
})

test('the list pages by itself, newest first', async () => {
  const { client: open } = await stack().newProject('batches')
  const client = open()
  const made: string[] = []
  for (let count = 0; count < 3; count += 1) made.unshift((await create(client, [line(count)])).id)
  const listed: string[] = []
  for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id)
  assert.deepEqual(listed, made)
})

test('a batch with a broken file says what is wrong with which line', async () => {
  const client = stack().project()
  const batch = await create(client, [line(1), { ...line(2), method: 'GET' }])
  const failed = await ended(client, batch.id)
  assert.equal(failed.status, 'failed')
  assert.deepEqual(
    failed.errors?.data?.map(({ code, line: at }) => [code, at]),
    [['invalid_method', 2]],
  )
})

test('a batch is cancelled, and only once', async () => {
  const client = stack().project({ maxRetries: 0 })
  double().decide(() => ({ text: 'Slow.', slowMs: 200 }))
  const batch = await create(
    client,
    Array.from({ length: 400 }, (_, at) => line(at)),
  )
  const cancelling = await client.batches.cancel(batch.id)
  assert.equal(cancelling.status, 'cancelling')
  assert.equal((await ended(client, batch.id)).status, 'cancelled')
  await assert.rejects(client.batches.cancel(batch.id), ConflictError)
  await assert.rejects(client.batches.retrieve('batch_none'), NotFoundError)
})

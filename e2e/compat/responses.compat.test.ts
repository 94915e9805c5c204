import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadRequestError, ConflictError, NotFoundError, toFile } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack, double } = useDoubleStack()
const BOUND_MS = 30_000
const model = 'double-chat'

// S1-4.1-a S1-4.1-h
test('the SDK makes, reads, continues, counts, lists and deletes responses', async () => {
  const { responses } = stack().project({ maxRetries: 0 })
  double().queue('First.', 'Second.')
  const first = await responses.create({ model, input: 'One?', metadata: { a: 'b' }, include: [] })
  assert.deepEqual([first.output_text, first.status, first.metadata], ['First.', 'completed', { a: 'b' }])
  const read = await responses.retrieve(first.id)
  assert.deepEqual([read.output_text, read.id], ['First.', first.id])
  const input = ['Two?', 'Three?'].map((content) => ({ role: 'user' as const, content }))
  const second = await responses.create({ model, input, previous_response_id: first.id })
  assert.equal(second.output_text, 'Second.')
  const texts: string[] = []
  for await (const item of responses.inputItems.list(second.id, { limit: 1, order: 'asc' })) {
    if (item.type === 'message') texts.push(...item.content.map((part) => ('text' in part ? part.text : '')))
  }
  assert.deepEqual(texts, ['Two?', 'Three?'])
  const counted = await responses.inputTokens.count({ model, input, previous_response_id: first.id })
  assert.ok(counted.object === 'response.input_tokens' && counted.input_tokens > 3)
  await responses.delete(second.id)
  await assert.rejects(async () => await responses.retrieve(second.id), NotFoundError)
  await assert.rejects(async () => await responses.delete(second.id), NotFoundError)
})

// S3-9.2-h
test('the SDK compacts a context and goes on from it', async () => {
  const { responses } = stack().project({ maxRetries: 0 })
  double().queue('The user is Ada.', 'You are Ada.')
  const compacted = await responses.compact({ model, input: [{ role: 'user', content: 'I am Ada.' }] })
  assert.equal(compacted.object, 'response.compaction')
  assert.deepEqual(
    compacted.output.map(({ type }) => type),
    ['message', 'compaction'],
  )
  const item = compacted.output.at(-1)
  assert.ok(item?.type === 'compaction')
  const input = [item, { role: 'user' as const, content: 'Who am I?' }]
  assert.equal((await responses.create({ model, input })).output_text, 'You are Ada.')
})

test('the SDK parses an answer whose form it asked for', async () => {
  const { responses } = stack().project({ maxRetries: 0 })
  double().queue('{"name":"Ada"}')
  const format = zodTextFormat(z.object({ name: z.string() }), 'person')
  const parsed = await responses.parse({ model, input: 'Who?', text: { format } })
  assert.deepEqual(parsed.output_parsed, { name: 'Ada' })
})

test('a background response is worked on, polled and cancelled', async () => {
  const { responses } = stack().project({ maxRetries: 0 })
  double().queue('Done.')
  const queued = await responses.create({ model, input: 'Go.', background: true })
  assert.deepEqual([queued.status, queued.output], ['queued', []])
  assert.ok(await becomesTrue(async () => (await responses.retrieve(queued.id)).status === 'completed', BOUND_MS))
  assert.equal((await responses.retrieve(queued.id)).output_text, 'Done.')
  assert.equal((await responses.cancel(queued.id)).status, 'completed')
  double().queue({ text: 'word '.repeat(2_000), slowMs: 20 })
  const slow = await responses.create({ model, input: 'Go.', background: true })
  assert.equal((await responses.cancel(slow.id)).status, 'cancelled')
  assert.equal((await responses.cancel(slow.id)).status, 'cancelled')
  const foreground = await responses.create({ model, input: 'Go.' })
  await assert.rejects(async () => await responses.cancel(foreground.id), BadRequestError)
  await assert.rejects(async () => {
    for await (const event of await responses.retrieve(foreground.id, { stream: true })) assert.fail(event.type)
  }, BadRequestError)
})

test('a background response that names a file which is gone fails, and says why', async () => {
  const { responses, files } = stack().project({ maxRetries: 0 })
  const file = await files.create({ file: await toFile(Buffer.from('x'), 'x.pdf'), purpose: 'user_data' })
  double().queue('Read.')
  const content = [{ type: 'input_file' as const, file_id: file.id }]
  const first = await responses.create({ model, input: [{ role: 'user', content }] })
  await files.delete(file.id)
  const { id } = await responses.create({ model, input: 'Again?', previous_response_id: first.id, background: true })
  assert.ok(await becomesTrue(async () => (await responses.retrieve(id)).status === 'failed', BOUND_MS))
  const { error } = await responses.retrieve(id)
  assert.deepEqual([error?.code, error?.message], ['invalid_prompt', 'No such file.'])
})

// S3-9.2-j
test('the SDK keeps a conversation, pages through it, and its responses go on in it', async () => {
  const client = stack().project({ maxRetries: 0 })
  const { conversations } = client
  const made = await conversations.create({
    items: [{ role: 'user', content: 'I am Ada.' }],
    metadata: { topic: 'names' },
  })
  assert.deepEqual(await conversations.retrieve(made.id), made)
  const changed = await conversations.update(made.id, { metadata: { topic: 'people' } })
  assert.deepEqual(changed.metadata, { topic: 'people' })
  double().queue('Hello Ada.')
  const response = await client.responses.create({ model, input: 'Greet me.', conversation: made.id })
  assert.equal(response.conversation?.id, made.id)
  const added = await conversations.items.create(made.id, { items: [{ role: 'user', content: 'Thanks.' }] })
  assert.equal(added.data.length, 1)
  const texts: string[] = []
  for await (const item of conversations.items.list(made.id, { limit: 1, order: 'asc' })) {
    if (item.type === 'message') texts.push(...item.content.map((part) => ('text' in part ? (part.text ?? '') : '')))
  }
  assert.deepEqual(texts, ['I am Ada.', 'Greet me.', 'Hello Ada.', 'Thanks.'])
  const [newest] = (await conversations.items.list(made.id, { limit: 1 })).data
  assert.ok(newest?.id != null)
  const read = await conversations.items.retrieve(newest.id, { conversation_id: made.id })
  assert.deepEqual(read, newest)
  assert.equal((await conversations.items.delete(newest.id, { conversation_id: made.id })).id, made.id)
  assert.deepEqual(await conversations.delete(made.id), { id: made.id, object: 'conversation.deleted', deleted: true })
  await assert.rejects(async () => await conversations.retrieve(made.id), NotFoundError)
})

test('a conversation that is in use is asked again by the SDK itself until it is free', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch })
  const { id } = await client.conversations.create()
  double().queue({ text: 'word '.repeat(2_000), slowMs: 20 })
  const first = await client.responses.create({ model, input: 'Go.', conversation: id, background: true })
  await assert.rejects(
    async () => await client.responses.create({ model, input: 'Go.', conversation: id }, { maxRetries: 1 }),
    (error) => error instanceof ConflictError && error.code === 'conversation_locked',
  )
  const refused = exchanges.filter(({ status }) => status === 409)
  assert.deepEqual(
    refused.map(({ responseHeaders: told }) => [told.get('x-should-retry'), told.get('retry-after-ms')]),
    [
      ['true', '500'],
      ['true', '500'],
    ],
  )
  const waiting = client.responses.create({ model, input: 'And?', conversation: id }, { maxRetries: 5 })
  await client.responses.cancel(first.id)
  assert.equal((await waiting).status, 'completed')
})

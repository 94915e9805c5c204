import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  APIConnectionTimeoutError,
  APIUserAbortError,
  ConflictError,
  InternalServerError,
  toFile,
  toStreamingFile,
} from 'openai'
import { holdInserts } from './testing/hold-inserts.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const small = async (text = 'x') => await toFile(Buffer.from(text), 'small.txt')

// Contract 0.4 rule 10: by itself the SDK sends a 409 three times.
test('a conflict that cannot be solved by asking again says so, and is asked once', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch })
  const options = { headers: { 'idempotency-key': 'the-same-key' } }
  const first = await client.files.create({ file: await small('one'), purpose: 'evals' }, options)
  const replayed = await client.files.create({ file: await small('one'), purpose: 'evals' }, options)
  assert.deepEqual(replayed, first)
  exchanges.length = 0
  await assert.rejects(
    async () => await client.files.create({ file: await small('two'), purpose: 'evals' }, options),
    (error) => {
      assert.ok(error instanceof ConflictError)
      assert.deepEqual([error.status, error.code, error.param], [409, 'idempotency_key_reused', 'Idempotency-Key'])
      assert.equal(error.headers.get('x-should-retry'), 'false')
      return true
    },
  )
  assert.equal(exchanges.length, 1)
})

test('a change of an archived project is a conflict, asked once', async () => {
  const { projectId } = await stack().newProject('to archive')
  const { fetch, exchanges } = recordingFetch()
  const { projects } = stack().admin({ fetch }).admin.organization
  await projects.archive(projectId)
  exchanges.length = 0
  await assert.rejects(
    async () => await projects.update(projectId, { name: 'too late' }),
    (error) => error instanceof ConflictError && error.code === 'invalid_state_transition',
  )
  assert.deepEqual(
    exchanges.map(({ status, responseHeaders }) => [status, responseHeaders.get('x-should-retry')]),
    [[409, 'false']],
  )
})

test('a conflict with a request still in hand is retried, and gets that request’s answer', async () => {
  const held = await holdInserts(stack().stack.postgres!.url, 'files.file')
  const { fetch, exchanges } = recordingFetch(async ({ status }) => {
    if (status === 409) await held.release()
  })
  const create = async () => {
    const headers = { 'idempotency-key': 'still-in-hand' }
    return await stack()
      .project({ fetch })
      .files.create({ file: await small(), purpose: 'evals' }, { headers })
  }
  try {
    const first = create()
    await held.someoneWaits()
    const [one, two] = await Promise.all([first, create()])
    assert.deepEqual(one, two)
    assert.ok(exchanges.some(({ status }) => status === 409))
    assert.equal(exchanges.at(-1)!.requestHeaders.get('x-stainless-retry-count'), '1')
  } finally {
    await held.release()
  }
})

test('while PostgreSQL is away the answer is 503 with a time to wait, and a retry finds it back', async () => {
  const { stack: running, project } = stack()
  const { id } = await project().files.create({ file: await small(), purpose: 'evals' })
  const postgres = running.postgres!
  const back: Promise<void>[] = []
  const { fetch, exchanges } = recordingFetch(({ status }) => {
    if (status === 503 && back.length === 0) back.push(postgres.restart())
  })
  await postgres.kill9()
  await assert.rejects(
    async () => await project({ fetch: globalThis.fetch, maxRetries: 0 }).files.retrieve(id),
    (error) => {
      assert.ok(error instanceof InternalServerError)
      assert.deepEqual([error.status, error.code, error.type], [503, 'server_overloaded', 'service_unavailable_error'])
      assert.equal(error.headers.get('retry-after'), '1')
      return true
    },
  )
  const found = await project({ fetch, maxRetries: 20 }).files.retrieve(id)
  assert.equal(found.id, id)
  assert.ok(exchanges.length >= 2)
  assert.deepEqual([exchanges[0]!.status, exchanges.at(-1)!.status], [503, 200])
  await Promise.all(back)
})

test('a request that takes too long is a timeout, and leaves nothing twice', async () => {
  const { client } = await stack().newProject('slow')
  const held = await holdInserts(stack().stack.postgres!.url, 'files.file')
  try {
    await assert.rejects(
      async () =>
        await client().files.create({ file: await small(), purpose: 'evals' }, { timeout: 300, maxRetries: 0 }),
      APIConnectionTimeoutError,
    )
  } finally {
    await held.release()
  }
  assert.ok((await client().files.list()).data.length <= 1)
})

test('an upload that its sender breaks off leaves no file', async () => {
  const { client } = await stack().newProject('broken off')
  const stopping = new AbortController()
  async function* breaksOff(): AsyncGenerator<Buffer> {
    for (let sent = 0; sent < 20; sent += 1) yield Buffer.alloc(64 * 1024)
    stopping.abort()
    // The SDK would go on to the end of what it was given.
    stopping.signal.throwIfAborted()
  }
  await assert.rejects(
    async () =>
      await client().files.create(
        { file: toStreamingFile(breaksOff(), 'half.bin'), purpose: 'user_data' },
        { signal: stopping.signal },
      ),
    APIUserAbortError,
  )
  assert.deepEqual((await client().files.list()).data, [])
})

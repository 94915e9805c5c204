import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadRequestError, toFile, type OpenAI } from 'openai'
import { inLanes } from './testing/in-lanes.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack, type NewProject } from './testing/use-stack.ts'

const FILES = 1_000
const EVALS_EVERY = 4
const CREATES_AT_ONCE = 16

let project: NewProject
let newestFirst: string[] = []

const stack = useStack(async (running) => {
  project = await running.newProject('a thousand files')
  const client = project.client()
  await inLanes(FILES, CREATES_AT_ONCE, async (index) => await createSmall(client, index))
  newestFirst = (await client.files.list()).data.map(({ id }) => id)
})

async function createSmall(client: OpenAI, index: number): Promise<string> {
  const file = await toFile(Buffer.from(`line ${index}`), `small-${index}.txt`)
  return (await client.files.create({ file, purpose: index % EVALS_EVERY === 0 ? 'evals' : 'user_data' })).id
}

test('without a limit one page holds all thousand files, newest first', async () => {
  const page = await project.client().files.list()
  assert.equal(page.data.length, FILES)
  assert.equal(page.has_more, false)
  assert.equal(new Set(newestFirst).size, FILES)
  const times = page.data.map((file) => file.created_at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
})

test('auto-pagination by hundreds meets each of a thousand files once, in either order', async () => {
  for (const [order, expected] of [
    ['desc', newestFirst],
    ['asc', newestFirst.toReversed()],
  ] as const) {
    const { fetch, exchanges } = recordingFetch()
    const met: string[] = []
    for await (const file of project.client({ fetch }).files.list({ limit: 100, order })) met.push(file.id)
    assert.deepEqual(met, expected)
    assert.equal(exchanges.length, FILES / 100)
  }
})

test('pages can be walked by hand, and carry the ids of their ends', async () => {
  const first = await project.client().files.list({ limit: 400 })
  const second = await first.getNextPage()
  const third = await second.getNextPage()
  assert.deepEqual(
    [first, second, third].map((page) => [page.data.length, page.hasNextPage()]),
    [
      [400, true],
      [400, true],
      [200, false],
    ],
  )
})

test('a purpose picks its files out of all pages', async () => {
  const met: string[] = []
  for await (const file of project.client().files.list({ limit: 60, purpose: 'evals' })) {
    assert.equal(file.purpose, 'evals')
    met.push(file.id)
  }
  assert.equal(new Set(met).size, FILES / EVALS_EVERY)
  assert.equal(met.length, FILES / EVALS_EVERY)
})

test('files made while a list is paged do not shift it', async () => {
  const client = project.client()
  const made: string[] = []
  const met: string[] = []
  for await (const file of client.files.list({ limit: 100 })) {
    if (met.length % 250 === 0) made.push(await createSmall(client, 1))
    met.push(file.id)
  }
  assert.deepEqual(met, newestFirst)
  for (const id of made) await client.files.delete(id)
})

test('an id that is nobody’s, or another project’s, is no place to page from', async () => {
  const { id: foreign } = await stack()
    .project()
    .files.create({ file: await toFile(Buffer.from('x'), 'x.txt'), purpose: 'user_data' })
  for (const after of [foreign, 'file-nothing']) {
    await assert.rejects(
      async () => await project.client().files.list({ after }),
      (error) => error instanceof BadRequestError && error.param === 'after' && error.code === 'invalid_value',
    )
  }
})

// The last: it leaves nothing.
test('deleting every file while paging reaches them all', async () => {
  const client = project.client()
  let deleted = 0
  for await (const file of client.files.list({ limit: 100 })) {
    await client.files.delete(file.id)
    deleted += 1
  }
  assert.equal(deleted, FILES)
  assert.deepEqual((await client.files.list()).data, [])
})

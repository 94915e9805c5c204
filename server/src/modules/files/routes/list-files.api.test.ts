import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteFile, listFiles, type File } from '@switchyard/contracts/files.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { expireIn, newFile } from '../testing/files-kit.ts'

const pageBound = 20

async function several(app: TestApp, count: number): Promise<File[]> {
  const files: File[] = []
  for (let at = 0; at < count; at += 1) files.push(await newFile(app, `${at}`))
  return files
}

async function walk(app: TestApp, query: Record<string, string | number>): Promise<string[][]> {
  const pages: string[][] = []
  let after = null as string | null
  for (let page = 0; page < pageBound; page += 1) {
    const asked: Record<string, string | number> = after === null ? query : { ...query, after }
    const reply = await app.call(listFiles, { query: asked })
    assert.equal(reply.status, 200, reply.text)
    const { data, first_id: first, last_id: last, has_more: more } = reply.body
    assert.deepEqual([first, last], [data[0]?.id ?? null, data.at(-1)?.id ?? null])
    pages.push(data.map(({ id }) => id))
    if (!more) return pages
    after = last
  }
  throw new Error('paging does not end')
}

test('files come newest first, or oldest first when asked, whole and once each', async (t) => {
  const app = await testApp(t)
  const files = await several(app, 5)
  const ids = files.map(({ id }) => id)
  assert.deepEqual(await walk(app, {}), [ids.toReversed()])
  assert.deepEqual(await walk(app, { order: 'asc' }), [ids])
  assert.deepEqual(await walk(app, { limit: 2 }), [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]])
  assert.deepEqual(await walk(app, { limit: 5, order: 'asc' }), [ids])
  const { body } = await app.call(listFiles)
  assert.deepEqual(body.data, files.toReversed())
})

test('an empty list is a list', async (t) => {
  const app = await testApp(t)
  const reply = await app.call(listFiles)
  assert.deepEqual(reply.body, { object: 'list', data: [], first_id: null, last_id: null, has_more: false })
})

test('a list can be kept to one purpose', async (t) => {
  const app = await testApp(t)
  const evals = await newFile(app, 'x', { fields: { purpose: 'evals' } })
  await newFile(app, 'x', { fields: { purpose: 'vision' } })
  const second = await newFile(app, 'x', { fields: { purpose: 'evals' } })
  assert.deepEqual(await walk(app, { purpose: 'evals', limit: 1 }), [[second.id], [evals.id]])
  assert.deepEqual(await walk(app, { purpose: 'evals', limit: 1, order: 'asc' }), [[evals.id], [second.id]])
})

test('a client that deletes what it lists can go on from what it has just deleted', async (t) => {
  const app = await testApp(t)
  const ids = (await several(app, 4)).map(({ id }) => id).toReversed()
  const [first = '', second = ''] = ids
  for (const id of [first, second]) await app.call(deleteFile, { params: { file_id: id } })
  const rest = await app.call(listFiles, { query: { after: second } })
  assert.deepEqual(
    rest.body.data.map(({ id }) => id),
    ids.slice(2),
  )
})

test('an expired file is not listed, but can still be paged from', async (t) => {
  const app = await testApp(t)
  const [old, middle, young] = await several(app, 3)
  assert.ok(old && middle && young)
  await expireIn(app, 'file', middle.id, 0)
  assert.deepEqual(await walk(app, {}), [[young.id, old.id]])
  assert.deepEqual(await walk(app, { after: middle.id }), [[old.id]])
})

test('a list refuses a cursor that is not a file of the project, and numbers out of bounds', async (t) => {
  const app = await testApp(t)
  const foreign = await newFile(app, 'x', { key: app.other.key })
  const refused: [Record<string, string>, string, string][] = [
    [{ after: foreign.id }, 'invalid_value', 'after'],
    [{ after: 'file-none' }, 'invalid_value', 'after'],
    [{ after: 'x'.repeat(97) }, 'string_above_max_length', 'after'],
    [{ limit: '0' }, 'integer_below_min_value', 'limit'],
    [{ limit: '10001' }, 'integer_above_max_value', 'limit'],
    [{ limit: '1.5' }, 'invalid_type', 'limit'],
    [{ limit: 'many' }, 'invalid_type', 'limit'],
    [{ order: 'random' }, 'invalid_value', 'order'],
    [{ purpose: 'fun' }, 'invalid_value', 'purpose'],
  ]
  for (const [query, code, param] of refused) {
    const reply = await app.call(listFiles, { query })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, code, param], JSON.stringify(query))
  }
  assert.deepEqual(await walk(app, {}), [[]])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEval, deleteEval, listEvals, retrieveEval, updateEval } from '@switchyard/contracts/evals/evals.ts'
import { sql } from 'kysely'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { ticketEval } from '../testing/eval-bodies.ts'

async function newEval(app: TestApp, name: string, key = app.project.key): Promise<string> {
  const reply = await app.call(createEval, { body: { ...ticketEval, name }, key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.id
}

// S1-4.7-d
test('evals are listed page by page in either order, and only those of the project', async (t) => {
  const app = await testApp(t)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) ids.push(await newEval(app, name))
  const foreign = await newEval(app, 'theirs', app.other.key)
  const page = async (query: Record<string, string>) => {
    const { body } = await app.call(listEvals, { query })
    return { ids: body.data.map(({ id }) => id), last: body.last_id, more: body.has_more }
  }

  assert.deepEqual((await page({})).ids, ids.toReversed())
  assert.deepEqual((await page({ order: 'asc' })).ids, ids)
  const first = await page({ order: 'asc', limit: '2' })
  assert.deepEqual([first.ids, first.more], [ids.slice(0, 2), true])
  const second = await page({ order: 'asc', limit: '2', after: first.last ?? '' })
  assert.deepEqual([second.ids, second.more], [ids.slice(2), false])

  const unknown = await app.call(listEvals, { query: { after: foreign } })
  assert.deepEqual([unknown.status, unknown.error.param], [400, 'after'])
})

test('a page of large evals is cut short, and the next goes on', async (t) => {
  const app = await testApp(t)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) ids.push(await newEval(app, name))
  // JSON is stored as it was written.
  await sql`
    update evals.eval set testing_criteria = (repeat(' ', 9000000) || testing_criteria::text)::json`.execute(
    app.db.kysely,
  )
  for (const order_by of ['created_at', 'updated_at']) {
    const query = { order: 'asc', order_by }
    const { body: first } = await app.call(listEvals, { query })
    const { body: second } = await app.call(listEvals, { query: { ...query, after: first.last_id ?? '' } })
    const pages = [first, second].map(({ data, has_more: more }) => [data.map(({ id }) => id), more])
    assert.deepEqual(pages, [
      [ids.slice(0, 2), true],
      [ids.slice(2), false],
    ])
  }
})

test('evals are also listed by when they were changed', async (t) => {
  const app = await testApp(t)
  const [a, b, c] = [await newEval(app, 'a'), await newEval(app, 'b'), await newEval(app, 'c')]
  await app.call(updateEval, { params: { eval_id: a }, body: { name: 'a again' } })
  const list = async (query: Record<string, string>) => {
    const { body } = await app.call(listEvals, { query: { order_by: 'updated_at', ...query } })
    return body.data.map(({ id }) => id)
  }
  assert.deepEqual(await list({}), [a, c, b])
  assert.deepEqual(await list({ order: 'asc' }), [b, c, a])
  assert.deepEqual(await list({ limit: '1', after: a }), [c])
  assert.deepEqual(await list({ order: 'asc', after: b, limit: '2' }), [c, a])
})

test('an eval can be renamed and given other metadata, and nothing else of it changes', async (t) => {
  const app = await testApp(t)
  const made = (await app.call(createEval, { body: { ...ticketEval, metadata: { team: 'it' } } })).body
  const change = async (body: object) => {
    const reply = await app.call(updateEval, { params: { eval_id: made.id }, body })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  assert.deepEqual(await change({ name: 'new' }), { ...made, name: 'new' })
  assert.deepEqual(await change({ metadata: { a: 'b' } }), { ...made, name: 'new', metadata: { a: 'b' } })
  assert.deepEqual(await change({}), { ...made, name: 'new', metadata: { a: 'b' } })
  assert.deepEqual(await change({ metadata: null }), { ...made, name: 'new', metadata: {} })

  const graders = await app.call(updateEval, { params: { eval_id: made.id }, body: { testing_criteria: [] } })
  assert.deepEqual(
    [graders.status, graders.error.code, graders.error.param],
    [400, 'unknown_parameter', 'testing_criteria'],
  )
})

test('a deleted eval is gone', async (t) => {
  const app = await testApp(t)
  const id = await newEval(app, 'short-lived')
  const gone = await app.call(deleteEval, { params: { eval_id: id } })
  assert.deepEqual(gone.body, { object: 'eval.deleted', deleted: true, eval_id: id })
  for (const operation of [retrieveEval, deleteEval]) {
    const reply = await app.call(operation, { params: { eval_id: id } })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'eval_id'])
  }
  assert.deepEqual((await app.call(listEvals)).body.data, [])
})

test('a page goes on after an eval that was deleted meanwhile', async (t) => {
  const app = await testApp(t)
  const [a, b, c] = [await newEval(app, 'a'), await newEval(app, 'b'), await newEval(app, 'c')]
  await app.call(deleteEval, { params: { eval_id: b } })
  const list = async (query: Record<string, string>) => {
    const reply = await app.call(listEvals, { query: { after: b, ...query } })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.data.map(({ id }) => id)
  }
  for (const order_by of ['created_at', 'updated_at']) {
    assert.deepEqual([await list({ order_by }), await list({ order_by, order: 'asc' })], [[a], [c]])
  }
})

test('an eval of another project is not there', async (t) => {
  const app = await testApp(t)
  const id = await newEval(app, 'theirs', app.other.key)
  for (const operation of [retrieveEval, deleteEval, updateEval]) {
    const body = operation === updateEval ? { name: 'mine' } : undefined
    const reply = await app.call(operation, { params: { eval_id: id }, ...(body && { body }) })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'eval_id'])
  }
  assert.equal((await app.call(retrieveEval, { params: { eval_id: id }, key: app.other.key })).status, 200)
})

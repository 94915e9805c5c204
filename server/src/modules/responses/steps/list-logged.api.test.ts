import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponse, deleteResponse } from '@switchyard/contracts/responses/operations.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import { newId } from '#platform/std/ids.ts'
import { sql } from 'kysely'
import { snapshotOf } from '../../../../test/double-models.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'

type Filter = Parameters<TestApp['wired']['responses']['listLogged']>[1]

async function create(app: TestApp, body: Record<string, unknown>, key = app.project.key): Promise<Response> {
  const reply = await app.call(createResponse, { key, body: { model: 'double-chat', input: 'Hello.', ...body } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const list = (app: TestApp, filter: Filter, after: string | null = null, limit = 20) =>
  app.wired.responses.listLogged(app.project.id, filter, { after, limit })

const listedIds = async (...asked: Parameters<typeof list>) => (await list(...asked)).map(({ id }) => id)

test('evals read completed responses of their project in order, by everything that they can be told apart by', async (t) => {
  const app = await testApp(t)
  const begun = Math.floor(Date.now() / 1_000)
  const weather = { type: 'function', name: 'weather', parameters: {}, strict: false }
  const plain = await create(app, { metadata: { team: 'blue', run: '1' }, user: 'ann', instructions: 'Be BRIEF.' })
  const tuned = await create(app, {
    model: 'double-responses',
    temperature: 0.2,
    top_p: 0.5,
    reasoning: { effort: 'low' },
    tools: [weather, { type: 'apply_patch' }],
    safety_identifier: 'bob',
    metadata: { team: 'blue' },
  })
  const third = await create(app, { previous_response_id: plain.id, input: 'And then?' })
  const ids = [plain.id, tuned.id, third.id]
  await create(app, { store: false })
  await create(app, {}, app.other.key)
  app.double.queue({ text: 'Cut', finish: 'length' })
  assert.equal((await create(app, {})).status, 'incomplete')
  const { id: gone } = await create(app, {})
  await app.call(deleteResponse, { params: { response_id: gone } })

  await t.test('page by page', async () => {
    assert.deepEqual(await listedIds(app, {}), ids)
    assert.deepEqual(await listedIds(app, {}, null, 2), ids.slice(0, 2))
    assert.deepEqual(await listedIds(app, {}, ids[1]), ids.slice(2))
    assert.deepEqual(await listedIds(app, {}, ids[2]), [])
  })

  const at = (seconds: number) => new Date(seconds * 1_000)
  const cases: [string, Filter, string[]][] = [
    ['model, by its alias', { model: 'double-responses' }, [tuned.id]],
    ['model, by its snapshot', { model: snapshotOf('double-chat') }, [plain.id, third.id]],
    ['a model that nobody knows', { model: 'gone' }, []],
    ['metadata', { metadata: { team: 'blue' } }, [plain.id, tuned.id]],
    ['all of the metadata', { metadata: { team: 'blue', run: '1' } }, [plain.id]],
    ['a part of the instructions, in any case', { instructionsSearch: 'be brief' }, [plain.id]],
    ['nothing that only looks like a pattern', { instructionsSearch: 'be%' }, []],
    ['reasoning effort', { reasoningEffort: 'low' }, [tuned.id]],
    ['temperature', { temperature: 0.2 }, [tuned.id]],
    ['the usual temperature, which nobody has to name', { temperature: 1 }, [plain.id, third.id]],
    ['top_p', { topP: 0.5 }, [tuned.id]],
    ['a tool by its name', { tools: ['weather', 'other'] }, [tuned.id]],
    ['a tool by its kind', { tools: ['apply_patch'] }, [tuned.id]],
    ['no tool of that name', { tools: ['other'] }, []],
    ['users, under both names', { users: ['ann', 'bob'] }, [plain.id, tuned.id]],
    ['one user', { users: ['bob'] }, [tuned.id]],
    ['time, both seconds included', { createdAfter: at(begun), createdBefore: at(third.created_at) }, ids],
    ['later', { createdAfter: at(third.created_at + 60) }, []],
    ['earlier', { createdBefore: at(begun - 60) }, []],
    ['any time at all', { createdAfter: at(0), createdBefore: at(253_402_300_799) }, ids],
    ['several of these', { temperature: 1, metadata: { run: '1' }, users: ['ann'] }, [plain.id]],
  ]
  for (const [name, filter, wanted] of cases) {
    await t.test(`by ${name}`, async () => assert.deepEqual(await listedIds(app, filter), wanted))
  }

  await t.test('each as it was answered, with its own input', async () => {
    const logged = await list(app, {})
    assert.deepEqual(
      logged.map(({ response }) => response),
      [plain, tuned, third],
    )
    const said = logged.map(({ input }) => input.map((item) => (item.type === 'message' ? item.content : item)))
    const text = (words: string) => [[{ type: 'input_text', text: words }]]
    assert.deepEqual(said, [text('Hello.'), text('Hello.'), text('And then?')])
  })
})

test('a page of large responses is cut short, and the next one goes on', async (t) => {
  const app = await testApp(t, { SWITCHYARD_HTTP_BODY_BYTES_MAX: String(8 * 1024 * 1024) })
  app.double.decide(() => 'Yes.')
  const ids: string[] = []
  const image = {
    type: 'input_image',
    image_url: `data:image/png;base64,${'A'.repeat(6 * 1024 * 1024)}`,
    detail: 'auto',
  }
  const input = [{ role: 'user', content: [image] }]
  for (let at = 0; at < 4; at += 1) ids.push((await create(app, { input })).id)
  assert.deepEqual(await listedIds(app, {}), ids.slice(0, 3))
  assert.deepEqual(await listedIds(app, {}, ids[2]), ids.slice(3))
})

test('the few that are wanted are found among many, whatever looking through all of them takes', async (t) => {
  const app = await testApp(t, { SWITCHYARD_POSTGRES_STATEMENT_TIMEOUT_MS: '1000' })
  const [before, after] = [await create(app, { user: 'ann' }), await create(app, { user: 'ann' })]
  const between = Array.from({ length: 14_000 }, () => newId('resp_', Date.now())).toSorted()
  for (let at = 0; at < between.length; at += 2_000) {
    await sql`
      insert into responses.response (id, project_id, asked, background, ended_status, ended_at)
      select id, ${app.project.id}, json_build_object('instructions', repeat('Á', 5000), 'user', 'bob'), false, 'completed', now()
      from unnest(${between.slice(at, at + 2_000)}::text[]) as id`.execute(app.db.kysely)
  }
  const last = await create(app, { instructions: 'Wanted', user: 'ann' })
  assert.deepEqual(await listedIds(app, { instructionsSearch: 'wanted' }), [last.id])
  const found: string[] = []
  for (let page = await listedIds(app, { users: ['ann'] }); page.length > 0;) {
    found.push(...page)
    page = await listedIds(app, { users: ['ann'] }, page.at(-1))
  }
  assert.deepEqual(found, [before.id, after.id, last.id])
})

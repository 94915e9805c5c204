import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteSkill, listSkills, listSkillVersions } from '@switchyard/contracts/skills.ts'
import { testApp, type TestApp } from '../../../../../test/test-app.ts'
import { newSkill, newVersion } from '../../testing/skills-kit.ts'

const pageBound = 20
type Query = Record<string, string | number>

async function walk(app: TestApp, query: Query, skillId?: string): Promise<string[][]> {
  const pages: string[][] = []
  let after: Query = {}
  for (let page = 0; page < pageBound; page += 1) {
    const asked = { query: { ...query, ...after } }
    const reply =
      skillId === undefined
        ? await app.call(listSkills, asked)
        : await app.call(listSkillVersions, { ...asked, params: { skill_id: skillId } })
    assert.equal(reply.status, 200, reply.text)
    const { data, first_id: first, last_id: last, has_more: more } = reply.body
    assert.deepEqual([first, last], [data[0]?.id ?? null, data.at(-1)?.id ?? null])
    pages.push(data.map(({ id }) => id))
    if (!more) return pages
    after = { after: last ?? '' }
  }
  throw new Error('paging does not end')
}

test('skills come newest first, or oldest first when asked, whole and once each', async (t) => {
  const app = await testApp(t)
  assert.deepEqual(await walk(app, {}), [[]])
  const skills = [await newSkill(app), await newSkill(app), await newSkill(app)]
  const ids = skills.map(({ id }) => id)
  await newSkill(app, undefined, app.other.key)
  assert.deepEqual(await walk(app, {}), [ids.toReversed()])
  assert.deepEqual(await walk(app, { order: 'asc', limit: 2 }), [[ids[0], ids[1]], [ids[2]]])
  assert.deepEqual(await walk(app, { limit: 1 }), [[ids[2]], [ids[1]], [ids[0]]])
  assert.deepEqual((await app.call(listSkills)).body.data, skills.toReversed())
})

test('versions come in the order of their numbers', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  for (let made = 0; made < 10; made += 1) await newVersion(app, id)
  const reply = await app.call(listSkillVersions, { params: { skill_id: id } })
  assert.deepEqual(
    reply.body.data.map(({ version }) => version),
    ['11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1'],
  )
  const ids = reply.body.data.map((version) => version.id)
  assert.deepEqual((await walk(app, { limit: 4 }, id)).flat(), ids)
  assert.deepEqual((await walk(app, { limit: 4, order: 'asc' }, id)).flat(), ids.toReversed())
})

test('a client that deletes what it lists can go on from what it has just deleted', async (t) => {
  const app = await testApp(t)
  const [first, second] = [await newSkill(app), await newSkill(app)]
  await app.call(deleteSkill, { params: { skill_id: second.id } })
  const reply = await app.call(listSkills, { query: { after: second.id } })
  assert.deepEqual(
    reply.body.data.map(({ id }) => id),
    [first.id],
  )
})

test('a page cannot start after what is not there', async (t) => {
  const app = await testApp(t)
  const own = await newSkill(app)
  const other = await newSkill(app)
  const foreign = await newSkill(app, undefined, app.other.key)
  for (const after of ['skill_none', foreign.id]) {
    const reply = await app.call(listSkills, { query: { after } })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, 'invalid_value', 'after'])
  }
  const [version] = (await app.call(listSkillVersions, { params: { skill_id: other.id } })).body.data
  const elsewhere = await app.call(listSkillVersions, {
    params: { skill_id: own.id },
    query: { after: version?.id ?? '' },
  })
  assert.deepEqual([elsewhere.status, elsewhere.error.code, elsewhere.error.param], [400, 'invalid_value', 'after'])
})

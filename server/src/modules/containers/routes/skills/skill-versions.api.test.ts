import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createSkillVersion,
  deleteSkill,
  deleteSkillVersion,
  retrieveSkill,
  retrieveSkillVersion,
  updateSkill,
} from '@switchyard/contracts/skills.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { folderForm, skillFolder, zipForm, zipOf } from '../../testing/skill-forms.ts'
import { download, filesOf, newSkill, newVersion, unpacked } from '../../testing/skills-kit.ts'

test('versions count up, never change, and become the default one only when asked to', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  const params = { skill_id: id }
  const second = await newVersion(app, id, skillFolder('second', 'Two.'))
  const { id: versionId, created_at: createdAt, ...rest } = second
  assert.match(versionId, /^skillver_[0-9a-z]{26}$/)
  assert.ok(Number.isInteger(createdAt))
  assert.deepEqual(rest, {
    object: 'skill.version',
    skill_id: id,
    version: '2',
    name: 'second',
    description: 'Two.',
  })
  const before = (await app.call(retrieveSkill, { params })).body
  assert.deepEqual(
    [before.name, before.default_version, before.latest_version],
    ['csv-workbench', '1', '2'],
    'the default one names the skill',
  )
  assert.equal((await newVersion(app, id, skillFolder('third'), { default: 'true' })).version, '3')
  const after = (await app.call(retrieveSkill, { params })).body
  assert.deepEqual([after.name, after.default_version, after.latest_version], ['third', '3', '3'])
  assert.equal((await newVersion(app, id, skillFolder('fourth'), { default: 'false' })).version, '4')
  assert.match((await filesOf(app, id, '1'))['SKILL.md'] ?? '', /name: csv-workbench/)
  assert.match((await filesOf(app, id, '2'))['SKILL.md'] ?? '', /name: second/)
  assert.match((await filesOf(app, id, 'latest'))['SKILL.md'] ?? '', /name: fourth/)
  const content = await download(app, `/v1/skills/${id}/content`)
  assert.deepEqual([content.status, content.type], [200, 'application/zip'])
  assert.match((await unpacked(content.bytes))['SKILL.md'] ?? '', /name: third/)
})

test('versions that arrive at once get a number each', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  const made = await Promise.all(Array.from({ length: 6 }, () => newVersion(app, id)))
  assert.deepEqual(made.map(({ version }) => version).toSorted(), ['2', '3', '4', '5', '6', '7'])
  const { body } = await app.call(retrieveSkill, { params: { skill_id: id } })
  assert.deepEqual([body.default_version, body.latest_version], ['1', '7'])
})

test('a version is found by its number or as the latest, and by nothing else', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  const second = await newVersion(app, id)
  for (const version of ['2', 'latest']) {
    const reply = await app.call(retrieveSkillVersion, { params: { skill_id: id, version } })
    assert.deepEqual(reply.body, second)
  }
  for (const version of ['3', '0', '-1', '02', 'default', 'x', '99999999999', second.id]) {
    const reply = await app.call(retrieveSkillVersion, { params: { skill_id: id, version } })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'version'], version)
  }
})

test('the default version is chosen among those that are there', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  await newVersion(app, id, skillFolder('second'))
  const params = { skill_id: id }
  const chosen = await app.call(updateSkill, { params, body: { default_version: '2' } })
  assert.deepEqual([chosen.status, chosen.body.default_version, chosen.body.name], [200, '2', 'second'])
  const back = await app.call(updateSkill, { params, body: { default_version: '1' } })
  assert.deepEqual([back.body.default_version, back.body.latest_version, back.body.name], ['1', '2', 'csv-workbench'])
  assert.equal((await app.call(updateSkill, { params, body: { default_version: 'latest' } })).body.default_version, '2')
  const none = await app.call(updateSkill, { params, body: { default_version: '3' } })
  assert.deepEqual([none.status, none.error.code, none.error.param], [404, 'not_found', 'default_version'])
  const wrong = await app.call(updateSkill, { params, body: { default_version: 'x' } })
  assert.deepEqual([wrong.status, wrong.error.code, wrong.error.param], [400, 'invalid_value', 'default_version'])
  assert.equal((await app.call(retrieveSkill, { params })).body.default_version, '2')
})

test('a deleted version is gone, its number is not given again, and the latest is the highest left', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  const second = await newVersion(app, id)
  const params = { skill_id: id, version: '2' }
  const deleted = await app.call(deleteSkillVersion, { params })
  assert.deepEqual(deleted.body, { id: second.id, object: 'skill.version.deleted', deleted: true, version: '2' })
  for (const operation of [retrieveSkillVersion, deleteSkillVersion]) {
    const reply = await app.call(operation, { params })
    assert.deepEqual([reply.status, reply.error?.param], [404, 'version'])
  }
  assert.equal((await app.call(retrieveSkill, { params: { skill_id: id } })).body.latest_version, '1')
  assert.equal((await newVersion(app, id)).version, '3')
  assert.equal((await app.call(deleteSkillVersion, { params: { skill_id: id, version: 'latest' } })).body.version, '3')
})

test('the default version goes last, and the skill goes with it', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  await newVersion(app, id)
  const first = { skill_id: id, version: '1' }
  const refused = await app.call(deleteSkillVersion, { params: first })
  assert.deepEqual([refused.status, refused.error.code, refused.error.param], [400, 'invalid_value', 'version'])
  assert.equal((await app.call(retrieveSkillVersion, { params: first })).status, 200)
  assert.equal((await app.call(deleteSkillVersion, { params: { skill_id: id, version: '2' } })).status, 200)
  assert.equal((await app.call(deleteSkillVersion, { params: first })).status, 200)
  assert.equal((await app.call(retrieveSkill, { params: { skill_id: id } })).status, 404)
})

test('a bad version is refused and takes no number; one for no skill is not read', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  const bad = await app.call(createSkillVersion, { params: { skill_id: id }, body: folderForm({ a: 'x' }) })
  assert.deepEqual([bad.status, bad.error.code, bad.error.param], [400, 'invalid_skill', 'files'])
  const odd = await app.call(createSkillVersion, {
    params: { skill_id: id },
    body: folderForm(undefined, { default: '1' }),
  })
  assert.deepEqual([odd.status, odd.error.code, odd.error.param], [400, 'invalid_value', 'default'])
  const zip = zipForm(await zipOf(skillFolder()), { default: 'true' })
  const good = await app.call(createSkillVersion, { params: { skill_id: id }, body: zip })
  assert.equal(good.body.version, '2')
  const none = await app.call(createSkillVersion, { params: { skill_id: 'skill_none' }, body: folderForm({ a: 'x' }) })
  assert.deepEqual([none.status, none.error.code, none.error.param], [404, 'not_found', 'skill_id'])
})

test('a deleted skill is gone with all its versions', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app)
  await newVersion(app, id)
  const params = { skill_id: id }
  assert.deepEqual((await app.call(deleteSkill, { params })).body, { id, object: 'skill.deleted', deleted: true })
  assert.equal((await app.call(deleteSkill, { params })).status, 404)
  assert.equal((await app.call(retrieveSkill, { params })).status, 404)
  const paths = ['', '/content', '/versions', '/versions/1', '/versions/latest', '/versions/2/content']
  for (const path of paths) assert.equal((await download(app, `/v1/skills/${id}${path}`)).status, 404, path)
  assert.equal((await app.call(createSkillVersion, { params, body: folderForm() })).status, 404)
})

test('a skill of another project does not exist', async (t) => {
  const app = await testApp(t)
  const { id } = await newSkill(app, undefined, app.other.key)
  const params = { skill_id: id, version: '1' }
  for (const path of ['', '/content', '/versions', '/versions/1', '/versions/1/content']) {
    assert.equal((await download(app, `/v1/skills/${id}${path}`)).status, 404, path)
  }
  for (const [operation, body] of [
    [updateSkill, { default_version: '1' }],
    [deleteSkill, undefined],
    [deleteSkillVersion, undefined],
    [createSkillVersion, folderForm()],
  ] as const) {
    const reply = await app.call(operation, { params, body })
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'skill_id'])
  }
  assert.equal((await app.call(retrieveSkill, { params, key: app.other.key })).status, 200)
})

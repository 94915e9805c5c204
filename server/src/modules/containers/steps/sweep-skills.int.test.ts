import { createSkillVersion, deleteSkill, deleteSkillVersion } from '@switchyard/contracts/skills.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { newBlobName } from '#platform/blobs/blobs.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import type { SkillTables } from '../store/skill-tables.ts'
import { folderForm } from '../testing/skill-forms.ts'
import { newSkill, newVersion, skillBlobs } from '../testing/skills-kit.ts'
import { sweepSkillOrphans, sweepSkills } from './sweep-skills.ts'

const useOf = (app: TestApp) => ({ db: app.db.as<SkillTables>(), blobs: app.wired.blobs })
const soon = () => AbortSignal.timeout(30_000)

test('the zips of what was deleted are removed, and of nothing else', async (t) => {
  const app = await testApp(t)
  const kept = await newSkill(app)
  const gone = await newSkill(app)
  await newVersion(app, gone.id)
  await newVersion(app, kept.id)
  assert.equal((await skillBlobs(app)).length, 4)
  await app.call(deleteSkill, { params: { skill_id: gone.id } })
  await app.call(deleteSkillVersion, { params: { skill_id: kept.id, version: '2' } })
  assert.equal(await sweepSkills(useOf(app), soon()), 3)
  assert.equal((await skillBlobs(app)).length, 1)
  assert.equal(await sweepSkills(useOf(app), soon()), 0)
})

test('a sweep that died between the bytes and the row is done again', async (t) => {
  const app = await testApp(t)
  const gone = await newSkill(app)
  await app.call(deleteSkill, { params: { skill_id: gone.id } })
  for (const name of await skillBlobs(app)) await app.wired.blobs.remove(name)
  assert.equal(await sweepSkills(useOf(app), soon()), 1)
})

test('a skill deleted a day ago is forgotten', async (t) => {
  const app = await testApp(t)
  const gone = await newSkill(app)
  await newSkill(app)
  await app.call(deleteSkill, { params: { skill_id: gone.id } })
  await sql`update containers.skill set ended_at = ended_at - interval '25 hours' where id = ${gone.id}`.execute(
    app.db.kysely,
  )
  assert.equal(await sweepSkills(useOf(app), soon()), 2)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from containers.skill_version`.execute(
    app.db.kysely,
  )
  assert.deepEqual(rows, [{ count: 1 }])
})

test('a zip without a row is removed once it is old, and one with a row never', async (t) => {
  const app = await testApp(t)
  const skill = await newSkill(app)
  await app.wired.blobs.put(newBlobName('skills'), Readable.from([Buffer.from('x')]), { bytesMax: 1 })
  const now = new Date(Date.now() + 60_000)
  assert.equal(await sweepSkillOrphans(useOf(app), now, soon()), 0)
  assert.equal(await sweepSkillOrphans(useOf(app), now, soon(), 1_000), 1)
  assert.equal((await skillBlobs(app)).length, 1)
  const again = await app.call(createSkillVersion, { params: { skill_id: skill.id }, body: folderForm() })
  assert.equal(again.status, 200)
})

import { SkillEntry } from '@switchyard/contracts/containers.ts'
import { deleteSkillVersion, updateSkill } from '@switchyard/contracts/skills.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import type { SkillTables } from '../store/skill-tables.ts'
import { createSkills } from '../skills.ts'
import { rawZip } from '../testing/raw-zip.ts'
import { skillFolder, zipOf } from '../testing/skill-forms.ts'
import { newSkill, newVersion, unpacked } from '../testing/skills-kit.ts'
import type { PinnedSkill } from './pin-skills.ts'
import { sweepSkills } from './sweep-skills.ts'

const skillsOf = ({ wired: { db, blobs, log } }: TestApp) => createSkills({ db, blobs, log })

/** As the wire has them. */
const reference = (skillId: string, version?: string) =>
  SkillEntry.parse({ type: 'skill_reference', skill_id: skillId, ...(version === undefined ? {} : { version }) })

const inline = (data: Buffer | string, name = 'notes', mediaType = 'application/zip') =>
  SkillEntry.parse({
    type: 'inline',
    name,
    description: 'Some notes.',
    source: {
      type: 'base64',
      media_type: mediaType,
      data: typeof data === 'string' ? data : data.toString('base64'),
    },
  })

async function faultOf(pinning: Promise<unknown>): Promise<[number, string, string | null]> {
  const error = await pinning.then(
    () => assert.fail('it was taken'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Fault, String(error))
  return [error.status, error.code, error.param]
}

// S1-2.4-a S1-2.4-b S1-2.4-c
test('a reference means a version by number, the latest, or the default one', async (t) => {
  const app = await testApp(t)
  const skills = skillsOf(app)
  const { id } = await newSkill(app, skillFolder('one'))
  await newVersion(app, id, skillFolder('two'))
  await newVersion(app, id, skillFolder('three'))
  const pin = async (version?: string) => (await skills.pin(app.project.id, [reference(id, version)], 'skills'))[0]
  const told = (pinned: PinnedSkill | undefined) =>
    pinned?.type === 'skill_reference' ? [pinned.skill_id, pinned.version, pinned.name, pinned.mount] : []
  assert.deepEqual(told(await pin('2')), [id, '2', 'two', 'two'])
  assert.deepEqual(told(await pin('latest')), [id, '3', 'three', 'three'])
  assert.deepEqual(told(await pin()), [id, '1', 'one', 'one'])
  await app.call(updateSkill, { params: { skill_id: id }, body: { default_version: '2' } })
  assert.deepEqual(told(await pin()), [id, '2', 'two', 'two'])
})

test('what was pinned stays as it was, until its version is deleted', async (t) => {
  const app = await testApp(t)
  const skills = skillsOf(app)
  const { id } = await newSkill(app, skillFolder('one'))
  const [pinned] = await skills.pin(app.project.id, [reference(id, 'latest')], 'skills')
  assert.ok(pinned !== undefined)
  await newVersion(app, id, skillFolder('two'), { default: 'true' })
  const zip = await skills.open(pinned)
  assert.match((await unpacked(zip ?? Buffer.alloc(0)))['SKILL.md'] ?? '', /name: one/)
  await app.call(deleteSkillVersion, { params: { skill_id: id, version: '1' } })
  const use = { db: app.db.as<SkillTables>(), blobs: app.wired.blobs }
  await sweepSkills(use, AbortSignal.timeout(10_000))
  assert.equal(await skills.open(pinned), null)
})

// S1-2.4-d S1-2.4-e S1-2.4-f S1-2.4-g S1-2.4-h S1-2.4-i
test('an inline skill is any zip; its name and description are those of the entry', async (t) => {
  const app = await testApp(t)
  const skills = skillsOf(app)
  const plain = await zipOf({ 'notes.txt': 'hello', 'a/b.txt': 'x' })
  const wrapped = await zipOf(skillFolder('front-matter-name'))
  const entries = [inline(plain, 'My notes'), inline(wrapped, 'entry-name', 'application/octet-stream')]
  const pinned = await skills.pin(app.project.id, entries, 'skills')
  assert.deepEqual(
    pinned.map(({ type, name, description, mount }) => ({ type, name, description, mount })),
    [
      { type: 'inline', name: 'My notes', description: 'Some notes.', mount: 'My-notes' },
      { type: 'inline', name: 'entry-name', description: 'Some notes.', mount: 'entry-name' },
    ],
  )
  const files = await Promise.all(pinned.map(async (one) => unpacked((await skills.open(one)) ?? Buffer.alloc(0))))
  assert.deepEqual(files[0], { 'a/b.txt': 'x', 'notes.txt': 'hello' })
  assert.deepEqual(Object.keys(files[1] ?? {}), ['SKILL.md', 'scripts/join.py'])
})

test('what cannot be pinned is refused at its place in the request', async (t) => {
  const app = await testApp(t)
  const skills = skillsOf(app)
  const { id } = await newSkill(app)
  const foreign = await newSkill(app, undefined, app.other.key)
  const good = await zipOf({ 'a.txt': 'x' })
  const cases: [says: string, entries: SkillEntry[], expected: [number, string, string]][] = [
    ['no skill', [reference('skill_none')], [404, 'not_found', 't[0].skill_id']],
    ['no skill, with a version', [reference('skill_none', '1')], [404, 'not_found', 't[0].skill_id']],
    ['a foreign skill', [reference(id), reference(foreign.id, '1')], [404, 'not_found', 't[1].skill_id']],
    ['no such version', [reference(id, '7')], [404, 'not_found', 't[0].version']],
    ['no version at all', [reference(id, 'newest')], [400, 'invalid_value', 't[0].version']],
    ['one skill twice', [reference(id), reference(id)], [400, 'invalid_value', 't[1].skill_id']],
    ['one name twice', [inline(good), inline(good)], [400, 'invalid_value', 't[1].name']],
    ['one folder twice', [inline(good, 'a b'), inline(good, 'a-b')], [400, 'invalid_value', 't[1].name']],
    [
      'the name of an uploaded one',
      [reference(id), inline(good, 'csv-workbench')],
      [400, 'invalid_value', 't[1].name'],
    ],
    ['no base64', [inline('no base64!')], [400, 'invalid_value', 't[0].source.data']],
    ['no zip', [inline(Buffer.from('hello'))], [400, 'invalid_skill', 't[0].source.data']],
    ['a climbing path', [inline(rawZip([{ name: '../x' }]))], [400, 'invalid_skill', 't[0].source.data']],
    ['a link', [inline(rawZip([{ name: 'x', mode: 0o120777 }]))], [400, 'invalid_skill', 't[0].source.data']],
  ]
  const heavy = await zipOf({ zeros: Buffer.alloc(45 * 1024 * 1024) })
  const five = ['a', 'b', 'c', 'd', 'e'].map((name) => inline(heavy, name))
  cases.push(['more than a host should hold', five, [400, 'invalid_value', 't']])
  for (const [says, entries, expected] of cases) {
    assert.deepEqual(await faultOf(skills.pin(app.project.id, entries, 't')), expected, says)
  }
})

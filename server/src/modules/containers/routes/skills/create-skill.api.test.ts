import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSkill, skillBytesMax, skillFilesMax } from '@switchyard/contracts/skills.ts'
import { testApp } from '../../../../../test/test-app.ts'
import { folderForm, skillFolder, skillText, zipForm, zipOf, type Files } from '../../testing/skill-forms.ts'
import { filesOf, newSkill, skillBlobs } from '../../testing/skills-kit.ts'

const folder = skillFolder()
const atRoot = {
  'SKILL.md': folder['csv-workbench/SKILL.md'],
  'scripts/join.py': folder['csv-workbench/scripts/join.py'],
}

test('a folder becomes version 1 of a skill that is named in its front matter', async (t) => {
  const app = await testApp(t)
  const before = Math.floor((await app.db.now()).getTime() / 1_000)
  const { id, created_at: createdAt, ...rest } = await newSkill(app)
  assert.match(id, /^skill_[0-9a-z]{26}$/)
  assert.ok(createdAt >= before && createdAt <= before + 60)
  assert.deepEqual(rest, {
    object: 'skill',
    name: 'csv-workbench',
    description: 'Reads and joins CSV files.',
    default_version: '1',
    latest_version: '1',
  })
  assert.deepEqual(await filesOf(app, id, '1'), atRoot)
})

test('a zip is the same skill, with its files in one folder or at the top, under either name of the part', async (t) => {
  const app = await testApp(t)
  for (const files of [folder, atRoot as Files]) {
    const zip = await zipOf(files)
    const form = zipForm(zip)
    const listed = new FormData()
    listed.append('files[]', form.get('files') ?? '')
    for (const body of [form, listed]) {
      const reply = await app.call(createSkill, { body })
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(await filesOf(app, reply.body.id, '1'), atRoot)
    }
  }
})

const deep = `${Array.from({ length: 40 }, () => 'a').join('/')}/b`

const wrong: { says: string; files?: Files; message: RegExp }[] = [
  { says: 'no SKILL.md', files: { 'a/readme.md': 'x' }, message: /no SKILL\.md/ },
  { says: 'SKILL.md too deep', files: { 'a/b/SKILL.md': skillText() }, message: /no SKILL\.md/ },
  { says: 'SKILL.md beside other folders', files: { 'a/SKILL.md': skillText(), 'b/x': '' }, message: /no SKILL\.md/ },
  { says: 'no front matter', files: { 'SKILL.md': '# hello' }, message: /front matter/ },
  { says: 'a bad name', files: { 'SKILL.md': skillText('Not Good') }, message: /name in SKILL\.md/ },
  { says: 'a long description', files: { 'SKILL.md': skillText('a', 'x'.repeat(1_025)) }, message: /description/ },
  { says: 'an absolute path', files: { 'SKILL.md': skillText(), '/etc/passwd': 'x' }, message: /absolute/ },
  { says: 'a climbing path', files: { 'SKILL.md': skillText(), 'a/../../x': 'x' }, message: /leads out/ },
  { says: 'a backslash', files: { 'SKILL.md': skillText(), 'a\\b': 'x' }, message: /backslash/ },
  { says: 'a path too deep', files: { 'SKILL.md': skillText(), [deep]: 'x' }, message: /deeper/ },
  { says: 'one path twice', files: { 'SKILL.md': skillText(), 'a.txt': 'x', 'A.txt': 'y' }, message: /twice/ },
]

test('what is no skill is refused with the reason, and leaves no bytes behind', async (t) => {
  const app = await testApp(t)
  for (const { says, files, message } of wrong) {
    const reply = await app.call(createSkill, { body: folderForm(files) })
    assert.deepEqual([reply.status, reply.error?.code, reply.error?.param], [400, 'invalid_skill', 'files'], says)
    assert.match(reply.error.message, message)
  }
  const torn = await app.call(createSkill, { body: zipForm((await zipOf(folder)).subarray(0, -30)) })
  assert.deepEqual([torn.status, torn.error.code, torn.error.param], [400, 'invalid_skill', 'files'])
  const none = await app.call(createSkill, { body: folderForm({}, {}) })
  assert.equal(none.status, 400)
  assert.deepEqual(await skillBlobs(app), [])
})

test('as many files and bytes as allowed are taken, and not one more', async (t) => {
  const app = await testApp(t)
  const many = (count: number): Files => ({
    'SKILL.md': skillText(),
    ...Object.fromEntries(Array.from({ length: count - 1 }, (_, at) => [`data/${at}.txt`, String(at)])),
  })
  const fits = await newSkill(app, many(skillFilesMax))
  assert.equal(Object.keys(await filesOf(app, fits.id, '1')).length, skillFilesMax)
  const over = await app.call(createSkill, { body: folderForm(many(skillFilesMax + 1)) })
  assert.deepEqual([over.status, over.error.code, over.error.param], [400, 'invalid_multipart', 'files'])
  const half = Buffer.alloc(skillBytesMax / 2 + 1)
  const heavy = await app.call(createSkill, { body: folderForm({ 'SKILL.md': skillText(), a: half, b: half }) })
  assert.deepEqual([heavy.status, heavy.error.code, heavy.error.param], [413, 'file_too_large', 'files'])
})

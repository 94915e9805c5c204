import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { BadRequestError, NotFoundError, toFile } from 'openai'
import { readArchive } from '../../server/src/modules/containers/archive/read-archive.ts'
import { rawZip } from '../../server/src/modules/containers/testing/raw-zip.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const skillText = (name: string) => `---\nname: ${name}\ndescription: Reads and joins CSV files.\n---\n\n# How to\n`
const script = '#!/usr/bin/env python3\nprint("joined")\n'

const zipped = (files: Readonly<Record<string, string>>) =>
  rawZip(Object.entries(files).map(([name, content]) => ({ name, content })))

async function unzipped(reply: Response): Promise<Record<string, string>> {
  assert.equal(reply.headers.get('content-type'), 'application/zip')
  const files = await readArchive(Buffer.from(await reply.arrayBuffer()))
  return Object.fromEntries(files.map(({ path, bytes }) => [path, bytes.toString()]))
}

const folder = async (name: string) => [
  await toFile(Buffer.from(skillText(name)), 'my-skill/SKILL.md'),
  await toFile(Buffer.from(script), 'my-skill/scripts/join.py'),
]

test('a skill lives through all eleven calls of the SDK, uploaded as a folder and as a zip', async () => {
  const client = stack().project()
  const skill = await client.skills.create({ files: await folder('csv-one') })
  const { id, created_at: createdAt, ...rest } = skill
  assert.match(id, /^skill_[0-9a-z]{26}$/)
  assert.ok(Number.isInteger(createdAt))
  assert.deepEqual(rest, {
    object: 'skill',
    name: 'csv-one',
    description: 'Reads and joins CSV files.',
    default_version: '1',
    latest_version: '1',
  })
  assert.deepEqual(await client.skills.retrieve(id), skill)

  const zip = zipped({ 'my-skill/SKILL.md': skillText('csv-two'), 'my-skill/data/rows.csv': 'a,b\n' })
  const second = await client.skills.versions.create(id, { files: await toFile(zip, 'my-skill.zip') })
  assert.deepEqual([second.object, second.skill_id, second.version, second.name], ['skill.version', id, '2', 'csv-two'])
  const third = await client.skills.versions.create(id, { files: await folder('csv-three'), default: true })
  assert.deepEqual(await client.skills.versions.retrieve('latest', { skill_id: id }), third)
  assert.deepEqual(await client.skills.versions.retrieve('2', { skill_id: id }), second)

  const versions: string[] = []
  for await (const { version } of client.skills.versions.list(id, { limit: 2 })) versions.push(version)
  assert.deepEqual(versions, ['3', '2', '1'])
  const ids: string[] = []
  for await (const listed of client.skills.list({ limit: 1, order: 'asc' })) ids.push(listed.id)
  assert.ok(ids.includes(id))

  const content = await unzipped(await client.skills.content.retrieve(id))
  assert.deepEqual(content, { 'SKILL.md': skillText('csv-three'), 'scripts/join.py': script })
  assert.deepEqual(await unzipped(await client.skills.versions.content.retrieve('2', { skill_id: id })), {
    'SKILL.md': skillText('csv-two'),
    'data/rows.csv': 'a,b\n',
  })

  const chosen = await client.skills.update(id, { default_version: '2' })
  assert.deepEqual([chosen.name, chosen.default_version, chosen.latest_version], ['csv-two', '2', '3'])
  const gone = await client.skills.versions.delete('3', { skill_id: id })
  assert.deepEqual(gone, { id: third.id, object: 'skill.version.deleted', deleted: true, version: '3' })
  assert.equal((await client.skills.retrieve(id)).latest_version, '2')
  assert.deepEqual(await client.skills.delete(id), { id, object: 'skill.deleted', deleted: true })
  await assert.rejects(client.skills.retrieve(id), NotFoundError)
})

test('what is refused says why, as the error of the SDK', async () => {
  const client = stack().project()
  const files = [await toFile(Buffer.from('no front matter'), 'SKILL.md')]
  await assert.rejects(client.skills.create({ files }), (error) => {
    assert.ok(error instanceof BadRequestError)
    assert.deepEqual([error.code, error.param], ['invalid_skill', 'files'])
    return true
  })
  const { id } = await client.skills.create({ files: await folder('csv') })
  await client.skills.versions.create(id, { files: await folder('csv') })
  await assert.rejects(client.skills.versions.delete('1', { skill_id: id }), BadRequestError)
})

test('the example of the guide is a skill', async () => {
  const client = stack().project()
  const text = await readFile(new URL('../../docs/examples/csv-workbench/SKILL.md', import.meta.url))
  const skill = await client.skills.create({ files: [await toFile(text, 'csv-workbench/SKILL.md')] })
  assert.equal(skill.name, 'csv-workbench')
})

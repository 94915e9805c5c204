import assert from 'node:assert/strict'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { writeArchive } from '../archive/write-archive.ts'
import { rawZip } from '../testing/raw-zip.ts'
import { unpackSkill } from './unpack-skill.ts'

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'switchyard-skill-'))
  t.after(() => rm(made, { recursive: true, force: true }))
  return made
}

const file = (path: string, content: string, executable = false) => ({ path, bytes: Buffer.from(content), executable })

test('a skill lies in its folder as it was packed, readable by everybody', async (t) => {
  const into = await folder(t)
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  await unpackSkill(await writeArchive([file('SKILL.md', 'hello'), file('a/b/run.sh', '#!/bin/sh', true)]), into)
  assert.deepEqual((await readdir(into, { recursive: true })).toSorted(), ['SKILL.md', 'a', 'a/b', 'a/b/run.sh'])
  assert.equal(await readFile(join(into, 'SKILL.md'), 'utf8'), 'hello')
  const modeOf = async (path: string) => ((await lstat(join(into, path))).mode & 0o7777).toString(8)
  assert.deepEqual(await Promise.all(['SKILL.md', 'a', 'a/b', 'a/b/run.sh'].map(modeOf)), ['644', '755', '755', '755'])
})

test('nothing that is there is overwritten, and no link is followed', async (t) => {
  const into = await folder(t)
  const outside = join(await folder(t), 'outside')
  await writeFile(outside, 'before')
  await writeFile(join(into, 'file'), 'before')
  await symlink(outside, join(into, 'link'))
  await symlink(join(outside, '..'), join(into, 'folder'))
  for (const name of ['file', 'link', 'folder/outside', 'folder/new']) {
    await assert.rejects(unpackSkill(await writeArchive([file(name, 'after')]), into), { code: 'EEXIST' })
  }
  assert.equal(await readFile(outside, 'utf8'), 'before')
  assert.equal(await readFile(join(into, 'file'), 'utf8'), 'before')
})

test('an archive that leads out writes nothing, even if it was stored as good', async (t) => {
  const outer = await folder(t)
  const into = join(outer, 'skill')
  await mkdir(into)
  const bad = ['../x', '/x', 'a/../../x', 'a\\..\\x'].map((name) => rawZip([{ name, content: 'x' }]))
  bad.push(rawZip([{ name: 'x', content: '/etc/passwd', mode: 0o120777 }]))
  for (const zip of bad) await assert.rejects(unpackSkill(zip, into), { name: 'InvalidSkill' })
  assert.deepEqual(await readdir(outer, { recursive: true }), ['skill'])
})

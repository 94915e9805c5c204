import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { removeTree } from './remove-tree.ts'

const raceMs = 1_500

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-tree-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('a folder goes with all that is in it, and what its links point to stays', async (t) => {
  const folder = await folderOf(t)
  await mkdir(join(folder, 'tree/a/b'), { recursive: true })
  await mkdir(join(folder, 'outside'))
  await writeFile(join(folder, 'outside/kept'), '')
  await writeFile(join(folder, 'tree/a/b/file'), '')
  await symlink(join(folder, 'outside'), join(folder, 'tree/a/link'))
  assert.equal(await removeTree(join(folder, 'tree')), true)
  assert.deepEqual(await readdir(folder), ['outside'])
  assert.deepEqual(await readdir(join(folder, 'outside')), ['kept'])
  assert.equal(await removeTree(join(folder, 'tree')), true)
})

test('a folder that becomes a link while it is removed leads nowhere', async (t) => {
  const folder = await folderOf(t)
  const outside = join(folder, 'outside')
  await mkdir(outside)
  for (let at = 0; at < 20; at += 1) await writeFile(join(outside, String(at)), '')
  const swap = `
    const { mkdirSync, symlinkSync, renameSync, rmSync, writeFileSync } = require('node:fs')
    const { workerData: { tree, outside } } = require('node:worker_threads')
    const quietly = (act) => { try { act() } catch {} }
    for (;;) {
      quietly(() => mkdirSync(tree + '/x'))
      for (let at = 0; at < 20; at += 1) quietly(() => writeFileSync(tree + '/x/' + at, ''))
      quietly(() => renameSync(tree + '/x', tree + '/y'))
      quietly(() => symlinkSync(outside, tree + '/x'))
      quietly(() => rmSync(tree + '/x'))
      quietly(() => rmSync(tree + '/y', { recursive: true, force: true }))
    }`
  const tree = join(folder, 'tree')
  await mkdir(tree)
  const attacker = new Worker(swap, { eval: true, workerData: { tree, outside } })
  let rounds = 0
  for (const until = Date.now() + raceMs; Date.now() < until; rounds += 1) {
    await removeTree(tree)
    await mkdir(tree, { recursive: true })
  }
  await attacker.terminate()
  assert.equal((await readdir(outside)).length, 20, `after ${rounds} rounds`)
})

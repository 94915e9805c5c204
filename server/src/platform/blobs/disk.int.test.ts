import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newBlobName } from './blobs.ts'
import { createBlobs } from './create-blobs.ts'
import { blobsSuite, listAll } from './testing/blobs-suite.ts'

async function folder(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'switchyard-blobs-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  return root
}

async function* hello(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('hello')
}

blobsSuite('disk', async (t) => {
  const root = await folder(t)
  const blobs = createBlobs({ kind: 'disk', root: join(root, 'blobs') })
  t.after(() => blobs.close())
  await blobs.check()
  const unfinished = join(root, 'blobs', '.unfinished')
  return {
    blobs,
    unfinished: async () => (await readdir(unfinished)).length,
    abandon: async () => await writeFile(join(unfinished, 'half'), 'hel'),
  }
})

test('nobody but the server may read its blobs', async (t) => {
  const root = join(await folder(t), 'blobs')
  const blobs = createBlobs({ kind: 'disk', root })
  const blob = newBlobName('files')
  await blobs.put(blob, hello(), { bytesMax: 5 })
  const modes = await Promise.all(['', 'files', blob].map(async (path) => (await stat(join(root, path))).mode & 0o777))
  assert.deepEqual(modes, [0o700, 0o700, 0o600])
})

test('files that are no blobs of ours are not listed', async (t) => {
  const root = await folder(t)
  const blobs = createBlobs({ kind: 'disk', root })
  const blob = newBlobName('files')
  await blobs.put(blob, hello(), { bytesMax: 5 })
  await writeFile(join(root, blob.slice(0, 9), '.nfs0001'), 'x')
  await writeFile(join(root, 'files', 'README'), 'x')
  assert.deepEqual(
    (await listAll(blobs, 'files')).map((entry) => entry.name),
    [blob],
  )
})

test('a folder that cannot be written fails the check', async (t) => {
  const root = await folder(t)
  await writeFile(join(root, 'file'), '')
  await assert.rejects(createBlobs({ kind: 'disk', root: join(root, 'file', 'blobs') }).check())
  if (process.getuid?.() === 0) return
  await chmod(root, 0o500)
  await assert.rejects(createBlobs({ kind: 'disk', root }).check())
})

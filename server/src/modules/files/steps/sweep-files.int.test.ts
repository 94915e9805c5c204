import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cancelUpload,
  completeUpload,
  deleteFile,
  listFiles,
  retrieveFileContent,
} from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { newBlobName } from '#platform/blobs/blobs.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import type { FilesTables } from '../store/tables.ts'
import { blobNames, expireIn, newFile, newPart, newUpload } from '../testing/files-kit.ts'
import { blobPrefix } from './receive-blob.ts'
import { sweepFiles, sweepOrphans, type SweepUses } from './sweep-files.ts'

const never = new AbortController().signal
const roundsBound = 20

const usesOf = (app: TestApp): SweepUses => ({ db: app.db.as<FilesTables>(), blobs: app.wired.blobs })

async function sweepAll(app: TestApp): Promise<void> {
  for (let round = 0; round < roundsBound; round += 1) if ((await sweepFiles(usesOf(app), never)) === 0) return
  throw new Error('the sweep finds no end')
}

async function put(app: TestApp): Promise<string> {
  const name = newBlobName(blobPrefix)
  const bytes = (async function* () {
    yield Buffer.from('orphan')
  })()
  await app.wired.blobs.put(name, bytes, { bytesMax: 100 })
  return name
}

const rows = async (app: TestApp, table: string) =>
  (await sql<{ count: number }>`select count(*) as count from ${sql.raw(table)}`.execute(app.db.kysely)).rows[0]?.count

test('the bytes of deleted and expired files go, those of others stay', async (t) => {
  const app = await testApp(t)
  const kept = await newFile(app, 'kept')
  const later = await newFile(app, 'later')
  await expireIn(app, 'file', later.id, 3_600)
  const deleted = await newFile(app, 'deleted')
  await app.call(deleteFile, { params: { file_id: deleted.id } })
  const expired = await newFile(app, 'expired')
  await expireIn(app, 'file', expired.id, 0)
  assert.equal((await blobNames(app)).length, 4)
  await sweepAll(app)
  assert.equal((await blobNames(app)).length, 2)
  assert.equal((await app.call(retrieveFileContent, { params: { file_id: kept.id } })).text, 'kept')
  assert.equal((await app.call(retrieveFileContent, { params: { file_id: later.id } })).text, 'later')
  const ended = await sql<{ id: string; ended_by: string }>`
    select id, ended_by from files.file where cleared_at is not null order by id`.execute(app.db.kysely)
  assert.deepEqual(ended.rows, [
    { id: deleted.id, ended_by: 'deleted' },
    { id: expired.id, ended_by: 'expired' },
  ])
})

test('the parts of cancelled and expired uploads go, and those that a completed one did not use', async (t) => {
  const app = await testApp(t)
  const cancelled = await newUpload(app, 3)
  await newPart(app, cancelled, 'one')
  await app.call(cancelUpload, { params: { upload_id: cancelled } })
  const expired = await newUpload(app, 3)
  await newPart(app, expired, 'one')
  await expireIn(app, 'upload', expired, 0)
  const completed = await newUpload(app, 3)
  const used = await newPart(app, completed, 'one')
  await newPart(app, completed, 'two')
  const done = await app.call(completeUpload, { params: { upload_id: completed }, body: { part_ids: [used] } })
  const pending = await newUpload(app, 3)
  await newPart(app, pending, 'one')
  assert.equal((await blobNames(app)).length, 5)
  await sweepAll(app)
  assert.equal((await blobNames(app)).length, 2)
  assert.equal(await rows(app, 'files.part'), 1)
  const fileId = done.body.file?.id ?? ''
  assert.equal((await app.call(retrieveFileContent, { params: { file_id: fileId } })).text, 'one')
  const statuses = await sql<{ id: string; status: string }>`select id, status from files.upload`.execute(app.db.kysely)
  assert.deepEqual(Object.fromEntries(statuses.rows.map(({ id, status }) => [id, status])), {
    [cancelled]: 'cancelled',
    [expired]: 'expired',
    [completed]: 'completed',
    [pending]: 'pending',
  })
})

test('a sweep that dies half way is finished by the next', async (t) => {
  const app = await testApp(t)
  for (let at = 0; at < 20; at += 1) await newFile(app, `${at}`)
  const kept = await newFile(app, 'kept')
  await sql`update files.file set expires_at = clock_timestamp() where id <> ${kept.id}`.execute(app.db.kysely)
  const { db, blobs } = usesOf(app)
  const dying = new AbortController()
  let removed = 0
  const remove = async (name: string) => {
    const gone = await blobs.remove(name)
    removed += 1
    if (removed === 9) dying.abort()
    return gone
  }
  const dies = { db, blobs: { ...bound(blobs), remove } }
  await assert.rejects(sweepFiles(dies, dying.signal), { name: 'AbortError' })
  const left = (await blobNames(app)).length
  assert.ok(left > 1 && left < 21, `${left} blobs are left`)
  await sweepAll(app)
  assert.equal((await blobNames(app)).length, 1)
  assert.equal(await rows(app, 'files.piece'), 1)
  assert.equal((await app.call(listFiles)).body.data.length, 1)
})

/** The blobs with their methods as values, so that one of them can be watched. */
function bound(blobs: SweepUses['blobs']): SweepUses['blobs'] {
  return {
    put: (...given) => blobs.put(...given),
    read: (...given) => blobs.read(...given),
    remove: (...given) => blobs.remove(...given),
    list: (...given) => blobs.list(...given),
    removeUnfinished: (...given) => blobs.removeUnfinished(...given),
    check: () => blobs.check(),
    close: () => blobs.close(),
  }
}

test('two sweeps at once end every file once', async (t) => {
  const app = await testApp(t)
  for (let at = 0; at < 30; at += 1) await newFile(app, `${at}`)
  await sql`update files.file set expires_at = clock_timestamp()`.execute(app.db.kysely)
  await Promise.all([sweepAll(app), sweepAll(app), sweepAll(app)])
  assert.deepEqual(await blobNames(app), [])
  assert.equal(await rows(app, 'files.file'), 30)
  assert.equal(await rows(app, 'files.piece'), 0)
})

test('the row of an ended file is forgotten a day after its bytes went', async (t) => {
  const app = await testApp(t)
  const old = await newFile(app)
  const young = await newFile(app)
  for (const { id } of [old, young]) await app.call(deleteFile, { params: { file_id: id } })
  await sweepAll(app)
  await sql`update files.file set cleared_at = cleared_at - interval '1 day' where id = ${old.id}`.execute(
    app.db.kysely,
  )
  await sweepAll(app)
  assert.equal((await app.call(listFiles, { query: { after: young.id } })).status, 200)
  assert.equal((await app.call(listFiles, { query: { after: old.id } })).status, 400)
})

test('blobs that no row names go once they are old; all others stay', async (t) => {
  const app = await testApp(t)
  const file = await newFile(app, 'kept')
  const uploadId = await newUpload(app, 3)
  await newPart(app, uploadId, 'one')
  const orphans = [await put(app), await put(app)]
  const now = await app.db.now()
  assert.equal(await sweepOrphans(usesOf(app), now, never), 0)
  assert.equal((await blobNames(app)).length, 4)
  const inAWhile = new Date(now.getTime() + 7 * 3_600_000)
  assert.equal(await sweepOrphans(usesOf(app), inAWhile, never), 2)
  const names = await blobNames(app)
  assert.equal(names.length, 2)
  assert.ok(orphans.every((name) => !names.includes(name)))
  assert.equal((await app.call(retrieveFileContent, { params: { file_id: file.id } })).text, 'kept')
})

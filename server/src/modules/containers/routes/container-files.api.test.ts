import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  createContainerFile,
  deleteContainerFile,
  listContainerFiles,
  retrieveContainerFile,
  retrieveContainerFileContent,
} from '@switchyard/contracts/containers.ts'
import { createFile } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { fileForm } from '#modules/files/testing/file-forms.ts'
import { urlOf } from '../../../../test/call-operation.ts'
import { filesIn, formOf, newContainer, printedIn, readContainer, runIn, upload } from '../testing/containers-kit.ts'
import { runtimes, sandboxApp } from '../testing/sandbox-app.ts'
import { download } from '../testing/skills-kit.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const largeBytes = 20 * 1024 * 1024

const contentPath = (containerId: string, fileId: string) =>
  urlOf('', retrieveContainerFileContent, { params: { container_id: containerId, file_id: fileId } })

for (const runtime of runtimes) {
  test(`files of a container on ${runtime}`, async (t) => {
    const app = await sandboxApp(t, { runtime, settings: { SWITCHYARD_SANDBOX_DISK_MB_MAX: '64' } })
    const { id } = await newContainer(app)
    const params = { container_id: id }
    const paramsOf = (file_id: string) => ({ params: { ...params, file_id } })

    // S1-1.4 S1-2.7-e S1-4.3-c
    await t.test('an upload is a file of the user, whatever its bytes, and comes back byte-identical', async () => {
      const bytes = randomBytes(largeBytes)
      const { created_at, ...file } = await upload(app, id, 'large.bin', bytes)
      assert.match(file.id, /^cfile_[0-9a-z]{26}$/)
      assert.ok(Math.abs(created_at - Date.now() / 1_000) < 60)
      assert.deepEqual(file, {
        id: file.id,
        object: 'container.file',
        container_id: id,
        bytes: largeBytes,
        path: '/mnt/data/large.bin',
        source: 'user',
      })
      const read = await app.call(retrieveContainerFile, paramsOf(file.id))
      assert.deepEqual(read.body, { ...file, created_at })
      const got = await fetch(`${app.baseUrl}${contentPath(id, file.id)}`, {
        headers: { authorization: `Bearer ${app.project.key}` },
      })
      assert.equal(got.headers.get('content-type'), 'application/octet-stream')
      assert.match(got.headers.get('content-disposition') ?? '', /^attachment;.*large\.bin/)
      assert.equal(got.headers.get('content-length'), String(largeBytes))
      assert.equal(sha256(Buffer.from(await got.arrayBuffer())), sha256(bytes))
      const inside = await printedIn(app, id, 'sha256sum large.bin; id -u; stat -c %u large.bin')
      assert.equal(inside.trim(), `${sha256(bytes)}  large.bin\n1000\n1000`)
      assert.equal((await app.call(deleteContainerFile, paramsOf(file.id))).status, 200)
    })

    await t.test('a file of the project is copied in by its id', async () => {
      const stored = await app.call(createFile, { body: fileForm('a,b\n1,2\n', { filename: 'rows.csv' }) })
      const reply = await app.call(createContainerFile, { params, body: { file_id: stored.body.id } })
      assert.deepEqual([reply.status, reply.body.path, reply.body.bytes], [200, '/mnt/data/rows.csv', 8], reply.text)
      assert.equal(await printedIn(app, id, 'cat rows.csv'), 'a,b\n1,2\n')
      const foreign = await app.call(createFile, { body: fileForm(), key: app.other.key })
      for (const file_id of ['file-none', foreign.body.id]) {
        const none = await app.call(createContainerFile, { params, body: { file_id } })
        assert.deepEqual([none.status, none.error.code, none.error.param], [404, 'not_found', 'file_id'])
      }
    })

    await t.test('a file keeps its id when it is rewritten, and is the model’s from then on', async () => {
      const first = await upload(app, id, 'notes.txt', 'one')
      await printedIn(app, id, 'mkdir -p a/b && echo deep > a/b/c.txt && sleep 0.01 && echo two more > notes.txt')
      const files = await filesIn(app, id)
      const notes = files['notes.txt']
      assert.deepEqual([notes?.id, notes?.source, notes?.bytes], [first.id, 'assistant', 9])
      assert.deepEqual([files['a/b/c.txt']?.source, files['a/b/c.txt']?.path], ['assistant', '/mnt/data/a/b/c.txt'])
      assert.equal((await download(app, contentPath(id, files['a/b/c.txt']?.id ?? ''))).bytes.toString(), 'deep\n')
      const again = await upload(app, id, 'notes.txt', 'three')
      assert.deepEqual([again.id, again.source, again.bytes], [first.id, 'user', 5])
      assert.equal(await printedIn(app, id, 'cat notes.txt'), 'three')
      const gone = await app.call(deleteContainerFile, paramsOf(first.id))
      assert.deepEqual(gone.body, { id: first.id, object: 'container.file.deleted', deleted: true })
      assert.equal((await runIn(app, id, 'test -e notes.txt')).outcome.type, 'exit')
      for (const operation of [retrieveContainerFile, retrieveContainerFileContent, deleteContainerFile]) {
        const reply = await app.call(operation, paramsOf(first.id))
        assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'file_id'])
      }
    })

    await t.test('files are listed by page, newest first', async () => {
      const other = await newContainer(app)
      const names = ['1.txt', '2.txt', '3.txt']
      for (const name of names) await upload(app, other.id, name, name)
      const list = async (query: Record<string, string | number>) => {
        const reply = await app.call(listContainerFiles, { params: { container_id: other.id }, query })
        assert.equal(reply.status, 200, reply.text)
        return { names: reply.body.data.map(({ path }) => path.slice(10)), ...reply.body }
      }
      const first = await list({ limit: 2 })
      assert.deepEqual([first.names, first.has_more], [['3.txt', '2.txt'], true])
      const rest = await list({ limit: 2, after: first.last_id ?? '' })
      assert.deepEqual([rest.names, rest.has_more], [['1.txt'], false])
      assert.deepEqual((await list({ order: 'asc' })).names, names)
      const unknown = await app.call(listContainerFiles, {
        params: { container_id: other.id },
        query: { after: 'cfile_none' },
      })
      assert.deepEqual([unknown.status, unknown.error.code, unknown.error.param], [400, 'invalid_value', 'after'])
    })

    await t.test('links, pipes and sockets are neither listed nor served, and lead nowhere', async () => {
      const { id: trap } = await newContainer(app)
      const inTrap = { container_id: trap }
      await printedIn(
        app,
        trap,
        `echo mine > real.txt; ln real.txt hard.txt; ln -s /etc/passwd passwd; ln -s real.txt near; ln -s .. up
         ln -s nothing dangling; ln -s / slash; ln -s /proc/self/environ env; mkdir folder; ln -s folder linked
         mkfifo pipe; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('sock')"`,
      )
      const files = await filesIn(app, trap)
      assert.deepEqual(Object.keys(files).toSorted(), ['hard.txt', 'real.txt'])
      const real = files['real.txt']
      assert.ok(real !== undefined)
      const linked = { ...inTrap, file_id: String(real.id) }
      assert.equal((await download(app, contentPath(trap, real.id))).bytes.toString(), 'mine\n')
      // What was a file when it was listed is a link when it is asked for.
      await printedIn(app, trap, 'rm real.txt && ln -s /etc/passwd real.txt')
      for (const operation of [retrieveContainerFile, retrieveContainerFileContent, deleteContainerFile]) {
        const { status } = await app.call(operation, { params: linked })
        assert.equal(status, 404)
      }
      // An upload takes the place of a link and does not write through it.
      await upload(app, trap, 'passwd', 'uploaded')
      await upload(app, trap, 'pipe', 'uploaded')
      assert.equal(await printedIn(app, trap, 'cat passwd pipe; grep -c root /etc/passwd'), 'uploadeduploaded1\n')
      const folder = await app.call(createContainerFile, { params: inTrap, body: formOf('folder', 'x') })
      assert.deepEqual([folder.status, folder.error.code, folder.error.param], [400, 'invalid_value', 'file'])
    })

    await t.test('a name leads nowhere but into /mnt/data', async () => {
      const names: [string, string][] = [
        ['../x', 'x'],
        ['../../etc/passwd', 'passwd'],
        ['/etc/shadow', 'shadow'],
        ['a\\..\\b.txt', 'b.txt'],
        ['..', 'upload'],
        ['Grüße 🎉.txt', 'Grüße 🎉.txt'],
        [`${'é'.repeat(300)}.txt`, `${'é'.repeat(125)}.txt`],
        ["'; touch pwned; '", "'; touch pwned; '"],
      ]
      const { id: target } = await newContainer(app)
      for (const [given, kept] of names) {
        const file = await upload(app, target, given, given)
        assert.equal(file.path, `/mnt/data/${kept}`, given)
      }
      assert.deepEqual(
        Object.keys(await filesIn(app, target)).toSorted(),
        [...new Set(names.map(([, kept]) => kept))].toSorted(),
      )
    })

    await t.test('a full disk refuses an upload and keeps what was there', async () => {
      const { id: full } = await newContainer(app)
      await upload(app, full, 'kept.txt', 'kept')
      const { outcome } = await runIn(app, full, 'head -c 80M /dev/zero > filler')
      assert.notDeepEqual(outcome, { type: 'exit', exit_code: 0 })
      const reply = await app.call(createContainerFile, {
        params: { container_id: full },
        body: formOf('kept.txt', randomBytes(1024 * 1024)),
      })
      assert.deepEqual([reply.status, reply.error.code], [413, 'file_too_large'], reply.text)
      assert.deepEqual(Object.keys(await filesIn(app, full)).toSorted(), ['filler', 'kept.txt'])
      assert.equal(await printedIn(app, full, 'cat kept.txt; rm filler'), 'kept')
      await upload(app, full, 'more.bin', randomBytes(1024 * 1024))
    })

    await t.test('writing and reading content is activity, looking is not', async () => {
      const { id: idle } = await newContainer(app)
      const file = await upload(app, idle, 'a.txt', 'a')
      const at = async () => (await readContainer(app, idle)).last_active_at
      const back = async () => {
        await sql`update containers.container set last_active_at = last_active_at - interval '5 minutes'
          where id = ${idle}`.execute(app.db.kysely)
        return await at()
      }
      let before = await back()
      await filesIn(app, idle)
      await app.call(retrieveContainerFile, { params: { container_id: idle, file_id: file.id } })
      assert.equal(await at(), before)
      await download(app, contentPath(idle, file.id))
      assert.ok((await at()) > before)
      before = await back()
      await upload(app, idle, 'a.txt', 'b')
      assert.ok((await at()) > before)
      before = await back()
      await app.call(deleteContainerFile, { params: { container_id: idle, file_id: file.id } })
      assert.ok((await at()) > before)
    })
  })
}

test('a container of another project has no files for anybody else', async (t) => {
  const app = await sandboxApp(t, { runtime: 'runc' })
  const { id } = await newContainer(app)
  const file = await upload(app, id, 'a.txt', 'a')
  const params = { container_id: id, file_id: file.id }
  for (const key of [app.other.key, app.otherOrg.project.key]) {
    const replies = [
      await app.call(createContainerFile, { params, key, body: formOf('a.txt', 'theirs') }),
      await app.call(listContainerFiles, { params, key }),
      await app.call(retrieveContainerFile, { params, key }),
      await app.call(retrieveContainerFileContent, { params, key }),
      await app.call(deleteContainerFile, { params, key }),
    ]
    for (const { status, error } of replies) assert.deepEqual([status, error.code], [404, 'container_not_found'])
  }
  assert.equal(await printedIn(app, id, 'cat a.txt'), 'a')
})

test('a body without a file, or with an unknown field, is refused', async (t) => {
  const app = await sandboxApp(t, { runtime: 'runc', settings: { SWITCHYARD_SANDBOX_POOL: '0' } })
  const { id } = await newContainer(app)
  const params = { container_id: id }
  const empty = await app.call(createContainerFile, { params, body: new FormData() })
  assert.deepEqual([empty.status, empty.error.param], [400, 'file'], empty.text)
  const odd = await app.call(createContainerFile, { params, body: { file: 'x' } })
  assert.equal(odd.status, 400, odd.text)
})

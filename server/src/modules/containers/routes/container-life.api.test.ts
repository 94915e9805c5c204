import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  createContainerFile,
  deleteContainer,
  deleteContainerFile,
  listContainerFiles,
  listContainers,
  retrieveContainerFile,
  retrieveContainerFileContent,
} from '@switchyard/contracts/containers.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import { inlineBlobPrefix } from '../steps/provision.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import {
  filesIn,
  formOf,
  makeDue,
  newContainer,
  printedIn,
  readContainer,
  runIn,
  upload,
} from '../testing/containers-kit.ts'
import { runtimes, sandboxApp, type SandboxApp } from '../testing/sandbox-app.ts'
import { zipOf } from '../testing/skill-forms.ts'

const boundMs = 30_000
const settings = { SWITCHYARD_SANDBOX_POOL: '0', SWITCHYARD_CONTAINERS_SWEEP_MS: '100' }

const expired = (app: SandboxApp, id: string) =>
  becomesTrue(async () => (await readContainer(app, id)).status === 'expired', boundMs)

/** Nothing of any container is left on the host or among the blobs. */
async function nothingLeft(app: SandboxApp): Promise<boolean> {
  for await (const _blob of app.wired.blobs.list(inlineBlobPrefix)) return false
  return (await readdir(join(app.dir, 'boxes'))).length === 0
}

const inline = async () => ({
  type: 'inline',
  name: 'notes',
  description: 'Notes.',
  source: {
    type: 'base64',
    media_type: 'application/zip',
    data: (await zipOf({ 'notes.txt': 'inline' })).toString('base64'),
  },
})

for (const runtime of runtimes) {
  // S1-3-b S1-3-c S1-3-d S1-3-f S1-4.2-c S1-4.3-b
  test(`an expired container on ${runtime} keeps its record and nothing else`, async (t) => {
    const app = await sandboxApp(t, { runtime, settings })
    const { id } = await newContainer(app, { skills: [await inline()] })
    const file = await upload(app, id, 'a.txt', 'a')
    assert.equal(await printedIn(app, id, 'cat a.txt /mnt/skills/notes/notes.txt; echo b > b.txt'), 'ainline')
    assert.deepEqual(Object.keys(await filesIn(app, id)).toSorted(), ['a.txt', 'b.txt'])
    assert.equal(await printedIn(app, id, 'cat b.txt'), 'b\n', 'files stay while it is active')

    await makeDue(app, id)
    assert.ok(await expired(app, id))
    assert.ok(await becomesTrue(() => nothingLeft(app), boundMs))
    const { status, name, skills } = await readContainer(app, id)
    assert.deepEqual([status, name, skills], ['expired', 'work', [{ type: 'inline', name: 'notes' }]])
    assert.deepEqual(
      (await app.call(listContainers)).body.data.map((listed) => [listed.id, listed.status]),
      [[id, 'expired']],
    )
    assert.deepEqual(await filesIn(app, id), {})
    const params = { container_id: id, file_id: file.id }
    const replies = [
      await app.call(createContainerFile, { params, body: formOf('c.txt', 'c') }),
      await app.call(retrieveContainerFile, { params }),
      await app.call(retrieveContainerFileContent, { params }),
      await app.call(deleteContainerFile, { params }),
    ]
    for (const reply of replies) assert.deepEqual([reply.status, reply.error.code], [404, 'container_expired'])
    const environment = { type: 'container_reference', container_id: id }
    const response = await app.call(createResponse, {
      body: { model: 'double-chat', input: 'go', tools: [{ type: 'shell', environment }] },
    })
    assert.deepEqual(
      [response.status, response.error.code, response.error.param],
      [400, 'container_expired', 'tools[0].environment.container_id'],
    )
    await assert.rejects(runIn(app, id, 'true'), { name: 'ContainerLost' })
    assert.equal((await app.call(deleteContainer, { params: { container_id: id } })).status, 200)
    const again = await app.call(listContainerFiles, { params })
    assert.deepEqual([again.status, again.error.code], [404, 'container_not_found'])
  })

  test(`a deleted container on ${runtime} leaves nothing on its host by the time of the answer`, async (t) => {
    const app = await sandboxApp(t, { runtime, settings })
    const { id } = await newContainer(app, { skills: [await inline()] })
    await printedIn(app, id, 'echo canary > a.txt; sleep 300 >/dev/null 2>&1 &')
    assert.equal((await app.call(deleteContainer, { params: { container_id: id } })).status, 200)
    assert.equal(await nothingLeft(app), true)
  })
}

// S1-2.3-d
test('a container is kept by what a running response does, and by nothing that is over', async (t) => {
  const app = await sandboxApp(t, { runtime: 'runc', settings })
  const used = await newContainer(app)
  const idle = await newContainer(app)
  const tools = [{ type: 'shell', environment: { type: 'container_reference', container_id: used.id } }]
  app.double.queue({ calls: [{ name: 'shell', arguments: { commands: ['sleep 4; echo kept > a.txt'] } }] }, 'Done.')
  const running = app.call(createResponse, { body: { model: 'double-chat', input: 'go', tools } })
  assert.ok(
    await becomesTrue(async () => app.double.requests.length > 0 && (await hasBox(app)), boundMs),
    'the command runs',
  )
  await makeDue(app, used.id)
  await makeDue(app, idle.id)
  assert.ok(await expired(app, idle.id))
  const reply = await running
  assert.equal(reply.body.status, 'completed', reply.text)
  assert.equal((await readContainer(app, used.id)).status, 'active')
  assert.equal(await printedIn(app, used.id, 'cat a.txt'), 'kept\n')
  await makeDue(app, used.id)
  assert.ok(await expired(app, used.id), 'the response is over')
})

const hasBox = async (app: SandboxApp) => (await readdir(join(app.dir, 'boxes'))).length > 0

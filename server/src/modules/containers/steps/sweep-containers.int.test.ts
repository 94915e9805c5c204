import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#platform/std/ids.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import type { ContainersTables } from '../store/tables.ts'
import { newContainer, readContainer } from '../testing/containers-kit.ts'
import { zipOf } from '../testing/skill-forms.ts'
import { inlineBlobPrefix } from './provision.ts'
import { sweepContainers } from './sweep-containers.ts'

const useOf = (app: TestApp) => ({
  db: app.db.as<ContainersTables>(),
  blobs: app.wired.blobs,
  inUse: async () => new Set<string>(),
})

async function inlineBlobs(app: TestApp): Promise<number> {
  let count = 0
  for await (const _blob of app.wired.blobs.list(inlineBlobPrefix)) count += 1
  return count
}

/** A container with inline content on a host that was last heard of so long ago. */
async function onSilentHost(app: TestApp, silent: string): Promise<string> {
  const { kysely } = app.db
  const host = newId('host_')
  await sql`insert into containers.host (id, url, memory_bytes) values (${host}, 'http://127.0.0.1:1', 1)`.execute(
    kysely,
  )
  const data = (await zipOf({ 'notes.txt': 'inline' })).toString('base64')
  const source = { type: 'base64', media_type: 'application/zip', data }
  const { id } = await newContainer(app, { skills: [{ type: 'inline', name: 'n', description: 'N.', source }] })
  await sql`update containers.container set host_id = ${host} where id = ${id}`.execute(kysely)
  await sql`update containers.host set seen_at = clock_timestamp() - ${silent}::interval where id = ${host}`.execute(
    kysely,
  )
  return id
}

test('a host that is silent for a minute takes its containers along, which say so, and their inline content goes', async (t) => {
  const app = await testApp(t)
  const lost = await onSilentHost(app, '61 seconds')
  const slow = await onSilentHost(app, '50 seconds')
  assert.equal(await inlineBlobs(app), 2)
  await sweepContainers(useOf(app))
  const { status, status_reason } = await readContainer(app, lost)
  assert.deepEqual([status, status_reason], ['expired', 'Its host has not been heard of for a minute.'])
  assert.equal((await readContainer(app, slow)).status, 'active')
  assert.equal(await inlineBlobs(app), 1)
  assert.equal(await sweepContainers(useOf(app)), 0)
})

test('a container whose host has been gone for a day is forgotten', async (t) => {
  const app = await testApp(t)
  await onSilentHost(app, '25 hours')
  const kept = await onSilentHost(app, '23 hours')
  await sweepContainers(useOf(app))
  await sweepContainers(useOf(app))
  const { rows } = await sql<{ id: string }>`select id from containers.container`.execute(app.db.kysely)
  assert.deepEqual(rows, [{ id: kept }])
})

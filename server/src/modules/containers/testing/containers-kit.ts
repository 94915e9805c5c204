import assert from 'node:assert/strict'
import {
  createContainer,
  createContainerFile,
  listContainerFiles,
  retrieveContainer,
  type Container,
  type ContainerFile,
} from '@switchyard/contracts/containers.ts'
import { updateContainerNetworkPolicy } from '@switchyard/contracts/organization/container-network-policy.ts'
import { sql } from 'kysely'
import { newId } from '#platform/std/ids.ts'
import type { TestApp } from '../../../../test/test-app.ts'

const commandMs = 60_000

export async function newContainer(app: TestApp, body: Record<string, unknown> = {}): Promise<Container> {
  const reply = await app.call(createContainer, { body: { name: 'work', ...body } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function readContainer(app: TestApp, id: string): Promise<Container> {
  const reply = await app.call(retrieveContainer, { params: { container_id: id } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The multipart body of a file, under exactly this name. */
export function formOf(name: string, content: string | Uint8Array): FormData {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(Buffer.from(content))]), name)
  return form
}

export async function upload(
  app: TestApp,
  id: string,
  name: string,
  content: string | Uint8Array,
): Promise<ContainerFile> {
  const reply = await app.call(createContainerFile, { params: { container_id: id }, body: formOf(name, content) })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** All files of a container, by the path below /mnt/data. */
export async function filesIn(app: TestApp, id: string): Promise<Record<string, ContainerFile>> {
  const params = { container_id: id }
  const reply = await app.call(listContainerFiles, { params, query: { order: 'asc', limit: 100 } })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.has_more, false)
  return Object.fromEntries(reply.body.data.map((file) => [file.path.replace('/mnt/data/', ''), file]))
}

export interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' }
}

/** Runs one command in a container, as a response would. */
export async function runIn(app: TestApp, containerId: string, command: string): Promise<Ran> {
  const { entries } = await app.wired.containers.shell.run(
    { containerId, responseId: newId('resp_'), callId: newId('call_'), commands: [command], timeoutMs: commandMs },
    { signal: new AbortController().signal, endOnAbort: true, onOutput: () => undefined },
  )
  const [entry] = entries
  assert.ok(entry !== undefined)
  return entry
}

/** The same where the command must succeed; gives what it printed. */
export async function printedIn(app: TestApp, containerId: string, command: string): Promise<string> {
  const { stdout, stderr, outcome } = await runIn(app, containerId, command)
  assert.deepEqual(outcome, { type: 'exit', exit_code: 0 }, stderr)
  return stdout
}

/** Puts the time at which it expires into the past, instead of waiting for it. */
export async function makeDue(app: TestApp, id: string): Promise<void> {
  await sql`update containers.container set expires_at = clock_timestamp() - interval '1 second',
    last_active_at = last_active_at - interval '1 day' where id = ${id}`.execute(app.db.kysely)
}

export async function allowDomains(app: TestApp, allowed_domains: readonly string[]): Promise<void> {
  const reply = await app.call(updateContainerNetworkPolicy, { body: { type: 'allowlist', allowed_domains } })
  assert.equal(reply.status, 200, reply.text)
}

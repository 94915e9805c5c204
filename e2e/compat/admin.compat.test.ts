import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationError, ConflictError, NotFoundError, toFile, type OpenAI } from 'openai'
import { inLanes } from './testing/in-lanes.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const organization = () => stack().admin().admin.organization
const REFUSED = { status: 401, code: 'invalid_api_key' }

async function collect<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of pages) items.push(item)
  return items
}

/** A key that works makes, reads and removes a file. */
async function works(client: OpenAI): Promise<void> {
  const file = await toFile(Buffer.from('made with a new key'), 'new-key.txt')
  const { id } = await client.files.create({ file, purpose: 'user_data' })
  assert.equal((await client.files.retrieve(id)).id, id)
  await client.files.delete(id)
}

async function isRefused(client: OpenAI): Promise<void> {
  await assert.rejects(
    async () => await client.files.list(),
    (error) => {
      assert.ok(error instanceof AuthenticationError)
      assert.deepEqual({ status: error.status, code: error.code }, REFUSED)
      return true
    },
  )
}

test('a project is made, read, renamed, listed and archived for good', async () => {
  const { projects } = organization()
  const made = await projects.create({ name: 'Lifecycle' })
  assert.match(made.id, /^proj_/)
  assert.deepEqual(
    [made.object, made.name, made.status, made.archived_at],
    ['organization.project', 'Lifecycle', 'active', null],
  )
  assert.deepEqual(await projects.retrieve(made.id), made)
  const renamed = await projects.update(made.id, { name: 'Renamed' })
  assert.deepEqual(renamed, { ...made, name: 'Renamed' })
  const archived = await projects.archive(made.id)
  assert.equal(archived.status, 'archived')
  assert.ok((archived.archived_at ?? 0) >= made.created_at)
  assert.deepEqual(await projects.archive(made.id), archived)
  await assert.rejects(async () => await projects.update(made.id, { name: 'Again' }), ConflictError)

  const ids = async (include_archived: boolean) =>
    (await collect(projects.list({ include_archived }))).map(({ id }) => id)
  assert.equal((await ids(false)).includes(made.id), false)
  assert.equal((await ids(true)).includes(made.id), true)
})

test('auto-pagination meets every project once', async () => {
  const made = await inLanes(25, 5, async (index) => (await organization().projects.create({ name: `p${index}` })).id)
  const { fetch, exchanges } = recordingFetch()
  const { projects } = stack().admin({ fetch }).admin.organization
  const met = (await collect(projects.list({ limit: 10 }))).map(({ id }) => id)
  assert.equal(new Set(met).size, met.length)
  assert.ok(made.every((id) => met.includes(id)))
  assert.equal(exchanges.length, Math.ceil(met.length / 10))
})

test('the key of a new service account works at once and stops with the account', async () => {
  const { projects } = organization()
  const { id: projectId } = await projects.create({ name: 'With an account' })
  const account = await projects.serviceAccounts.create(projectId, { name: 'robot' })
  assert.deepEqual([account.object, account.role], ['organization.project.service_account', 'member'])
  assert.ok(account.api_key)
  assert.match(account.api_key.value, /^sk-svcacct-/)
  const client = stack().project({ apiKey: account.api_key.value })
  await works(client)

  const renamed = await projects.serviceAccounts.update(account.id, { project_id: projectId, name: 'android' })
  assert.equal(renamed.name, 'android')
  assert.deepEqual(await projects.serviceAccounts.retrieve(account.id, { project_id: projectId }), renamed)
  assert.deepEqual(await collect(projects.serviceAccounts.list(projectId)), [renamed])

  const gone = await projects.serviceAccounts.delete(account.id, { project_id: projectId })
  assert.deepEqual(gone, { id: account.id, object: 'organization.project.service_account.deleted', deleted: true })
  await isRefused(client)
  assert.deepEqual(await collect(projects.serviceAccounts.list(projectId)), [])
})

test('a second key of an account can be minted, restricted, listed without its value, and revoked', async () => {
  const { projects } = organization()
  const { projectId } = await stack().newProject('keys')
  const [account] = await collect(projects.serviceAccounts.list(projectId))
  assert.ok(account)
  const minted = await projects.serviceAccounts.apiKeys.create(account.id, {
    project_id: projectId,
    name: 'second',
    expires_in_seconds: 3_600,
  })
  assert.equal(minted.expires_at, minted.created_at + 3_600)
  const client = stack().project({ apiKey: minted.value })
  await works(client)

  const listed = await collect(projects.apiKeys.list(projectId, { limit: 1 }))
  assert.deepEqual(listed.length, 2)
  assert.equal(JSON.stringify(listed).includes(minted.value), false)
  const key = await projects.apiKeys.retrieve(minted.id, { project_id: projectId })
  assert.deepEqual([key.name, key.owner.type, key.owner.service_account?.id], ['second', 'service_account', account.id])
  const restricted = await projects.apiKeys.update(minted.id, { project_id: projectId, scopes: ['api.all.read'] })
  assert.equal(restricted.id, minted.id)
  await assert.rejects(works(client), { status: 403, code: 'insufficient_permissions' })
  assert.deepEqual((await client.files.list()).data, [])

  const gone = await projects.apiKeys.delete(minted.id, { project_id: projectId })
  assert.deepEqual(gone, { id: minted.id, object: 'organization.project.api_key.deleted', deleted: true })
  await isRefused(client)
  await assert.rejects(async () => await projects.apiKeys.retrieve(minted.id, { project_id: projectId }), NotFoundError)
})

test('the keys of an archived project stop at once', async () => {
  const { projectId, client } = await stack().newProject('to be archived')
  await works(client())
  await organization().projects.archive(projectId)
  await isRefused(client())
})

test('an admin key can be minted, used, listed and revoked', async () => {
  const { adminAPIKeys } = organization()
  const minted = await adminAPIKeys.create({ name: 'second admin', expires_in_seconds: 600 })
  assert.match(minted.value, /^sk-admin-/)
  assert.equal(minted.expires_at, minted.created_at + 600)
  const second = stack().admin({ adminAPIKey: minted.value }).admin.organization
  const listed = await collect(second.adminAPIKeys.list({ limit: 1, order: 'asc' }))
  assert.equal(listed.at(-1)?.id, minted.id)
  assert.equal(JSON.stringify(listed).includes(minted.value), false)
  const { value: _value, last_used_at: _before, ...record } = minted
  const { last_used_at: _after, ...read } = await adminAPIKeys.retrieve(minted.id)
  assert.deepEqual(read, record)
  assert.deepEqual(await adminAPIKeys.delete(minted.id), {
    id: minted.id,
    object: 'organization.admin_api_key.deleted',
    deleted: true,
  })
  await assert.rejects(async () => await second.projects.list(), REFUSED)
})

test('people are invited, listed, and their invites taken back', async () => {
  const { invites, users, projects } = organization()
  const { id: projectId } = await projects.create({ name: 'For guests' })
  const invite = await invites.create({
    email: 'Guest@Example.com',
    role: 'reader',
    projects: [{ id: projectId, role: 'member' }],
  })
  assert.deepEqual(
    [invite.object, invite.email, invite.role, invite.status, invite.projects],
    ['organization.invite', 'guest@example.com', 'reader', 'pending', [{ id: projectId, role: 'member' }]],
  )
  assert.deepEqual(await invites.retrieve(invite.id), invite)
  await assert.rejects(async () => await invites.create({ email: 'guest@example.com', role: 'reader' }), ConflictError)
  assert.deepEqual(await collect(invites.list({ limit: 1 })), [invite])
  assert.deepEqual(await invites.delete(invite.id), {
    id: invite.id,
    object: 'organization.invite.deleted',
    deleted: true,
  })
  await assert.rejects(async () => await invites.retrieve(invite.id), NotFoundError)
  assert.deepEqual(await collect(users.list({ emails: ['guest@example.com', 'other@example.com'] })), [])
  await assert.rejects(async () => await users.retrieve('user-nobody'), NotFoundError)
})

test('every administrative change is in the audit log, by type, project and time', async () => {
  const { auditLogs, projects } = organization()
  const { projectId } = await stack().newProject('audited')
  await projects.update(projectId, { name: 'audited twice' })
  const entries = await collect(auditLogs.list({ project_ids: [projectId], limit: 2 }))
  const types = entries.map(({ type }) => type)
  assert.deepEqual(types.toSorted(), [
    'api_key.created',
    'project.created',
    'project.updated',
    'service_account.created',
  ])
  const times = entries.map((entry) => entry.effective_at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  )
  assert.ok(entries.every(({ actor }) => actor?.type === 'api_key'))

  const created = await collect(
    auditLogs.list({ event_types: ['project.created'], project_ids: [projectId], effective_at: { gte: 1 } }),
  )
  assert.equal(created.length, 1)
  assert.equal(created[0]?.project?.id, projectId)
  assert.deepEqual(await collect(auditLogs.list({ project_ids: [projectId], effective_at: { lt: 1 } })), [])
})

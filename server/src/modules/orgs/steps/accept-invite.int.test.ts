import type { InviteId } from '@switchyard/contracts/ids.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#platform/std/ids.ts'
import { insertInvite } from '../store/invites.ts'
import { findMember, listMembers } from '../store/members.ts'
import { listProjectMembers } from '../store/project-members.ts'
import { archiveProject } from '../store/projects.ts'
import type { GrantedProject } from '../store/tables.ts'
import { orgsOnly, type OrgsOnly } from '../testing/orgs-database.ts'

async function invite(at: OrgsOnly, email: string, projects: GrantedProject[] = []): Promise<InviteId> {
  const id = newId<InviteId>('invite-')
  const invited = { id, org_id: at.orgId, email, role: 'reader', projects, lifetimeSeconds: 60 } as const
  await at.db.tx((tx) => insertInvite(tx, invited))
  return id
}

test('accepting makes the person, their membership and their place in the projects, and tells the log', async (t) => {
  const at = await orgsOnly(t)
  const closed = (await at.orgs.createProject({ orgId: at.orgId, name: 'Closed' })).projectId
  await at.db.tx((tx) => archiveProject(tx, at.orgId, closed))
  const inviteId = await invite(at, 'ann@example.com', [
    { id: at.projectId, role: 'owner' },
    { id: closed, role: 'member' },
  ])
  const accepted = await at.orgs.acceptInvite({ inviteId, email: 'Ann@Example.com', name: 'Ann', requestId: 'req_1' })
  assert.equal(accepted.orgId, at.orgId)
  const member = await findMember(at.db.kysely, at.orgId, accepted.userId)
  assert.deepEqual([member?.email, member?.name, member?.role], ['ann@example.com', 'Ann', 'reader'])
  const inProject = await listProjectMembers(at.db.kysely, at.projectId, { limit: 10 })
  assert.deepEqual(
    inProject.map(({ id, role }) => [id, role]),
    [[accepted.userId, 'owner']],
  )
  assert.deepEqual(await listProjectMembers(at.db.kysely, closed, { limit: 10 }), [])
  const told = await at.db.kysely
    .selectFrom('orgs.audit_log')
    .select(['type', 'project_id', 'request_id'])
    .where('actor_user_id', '=', accepted.userId)
    .orderBy('effective_at')
    .execute()
  assert.deepEqual(told, [
    { type: 'invite.accepted', project_id: null, request_id: 'req_1' },
    { type: 'user.added', project_id: null, request_id: 'req_1' },
    { type: 'user.added', project_id: at.projectId, request_id: 'req_1' },
  ])
})

test('an invite is accepted once, by the address it was sent to', async (t) => {
  const at = await orgsOnly(t)
  const inviteId = await invite(at, 'ann@example.com')
  const accept = (email: string) => at.orgs.acceptInvite({ inviteId, email, name: 'Ann' })
  await assert.rejects(accept('eve@example.com'), { code: 'not_found' })
  const settled = await Promise.allSettled([accept('ann@example.com'), accept('ann@example.com')])
  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await listMembers(at.db.kysely, at.orgId, { limit: 10 })).length, 1)
})

test('a person is one person in several organisations, and keeps their name', async (t) => {
  const at = await orgsOnly(t)
  const { orgId: otherId } = await at.orgs.createOrganization({ name: 'Other', region: 'eu' })
  const first = await at.orgs.acceptInvite({
    inviteId: await invite(at, 'ann@example.com'),
    email: 'ann@example.com',
    name: 'Ann',
  })
  const second = await at.orgs.acceptInvite({
    inviteId: await invite({ ...at, orgId: otherId }, 'ann@example.com'),
    email: 'ann@example.com',
    name: 'Someone else',
  })
  assert.equal(second.userId, first.userId)
  assert.equal((await findMember(at.db.kysely, otherId, second.userId))?.name, 'Ann')
})

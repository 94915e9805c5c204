import type { InviteId, OrgId, UserId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { newId } from '#platform/std/ids.ts'
import type { Actor } from '../domain/actor.ts'
import { inviteAccepted, userAdded } from '../domain/audit-event.ts'
import { noSuch } from '../domain/no-such.ts'
import { recordAudit } from '../store/audit-log.ts'
import { takeInvite } from '../store/invites.ts'
import { ensureUser, insertMember } from '../store/members.ts'
import { grantProjects } from '../store/project-members.ts'
import type { OrgsTables } from '../store/tables.ts'

export interface Acceptance {
  readonly inviteId: InviteId
  /** Proven by whoever signed the person in. */
  readonly email: string
  readonly name: string
  readonly requestId?: string
}

/** Turns a pending invite into a user with memberships, once. A project archived meanwhile is left out. */
export async function acceptInvite(
  use: { db: Db<OrgsTables> },
  acceptance: Acceptance,
): Promise<{ orgId: OrgId; userId: UserId }> {
  const email = acceptance.email.toLowerCase()
  return await use.db.tx(async (tx) => {
    const invite = await takeInvite(tx, acceptance.inviteId, email)
    if (invite === null) throw noSuch('invite')
    const orgId = invite.org_id
    const userId = await ensureUser(tx, { id: newId<UserId>('user-'), email, name: acceptance.name })
    const actor: Actor = { kind: 'session', userId, requestId: acceptance.requestId ?? null }
    await recordAudit(tx, orgId, actor, inviteAccepted(acceptance.inviteId))
    if (await insertMember(tx, { org_id: orgId, user_id: userId, role: invite.role })) {
      await recordAudit(tx, orgId, actor, userAdded(userId, invite.role, null))
    }
    for (const project of await grantProjects(tx, orgId, userId, invite.projects)) {
      await recordAudit(tx, orgId, actor, userAdded(userId, project.role, project.id))
    }
    return { orgId, userId }
  })
}

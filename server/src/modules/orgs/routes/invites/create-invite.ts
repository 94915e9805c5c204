import type { InviteId, OrgId } from '@switchyard/contracts/ids.ts'
import { createInvite } from '@switchyard/contracts/organization/invites.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { actorOf } from '../../domain/actor.ts'
import { inviteSent } from '../../domain/audit-event.ts'
import { inviteView } from '../../domain/invite-view.ts'
import { noSuch } from '../../domain/no-such.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { hasPendingInvite, insertInvite } from '../../store/invites.ts'
import { findMemberByEmail } from '../../store/members.ts'
import { lockOrganization } from '../../store/organizations.ts'
import { findProject } from '../../store/projects.ts'
import type { GrantedProject, OrgsTables } from '../../store/tables.ts'

const inviteLifetimeSeconds = 7 * 86_400

async function checkProjects(tx: Tx, orgId: OrgId, projects: readonly GrantedProject[]): Promise<void> {
  for (const [at, { id }] of projects.entries()) {
    const param = `projects[${at}].id`
    if (projects.findIndex((other) => other.id === id) < at) {
      throw new Fault('invalid_value', 'The project is named twice.', { param })
    }
    const project = await findProject(own<OrgsTables>(tx), orgId, id)
    if (project === null) throw noSuch('project', param)
    if (project.archived_at !== null) {
      throw new Fault('invalid_state_transition', 'The project is archived.', { param })
    }
  }
}

export const createInviteRoute = () =>
  route(createInvite, async (context) => {
    const { orgId } = context.scope
    const { email, role, projects = [] } = context.body
    return await context.commit(async (tx) => {
      await lockOrganization(tx, orgId)
      if ((await findMemberByEmail(own<OrgsTables>(tx), orgId, email)) !== null) {
        throw new Fault('already_exists', 'This person is a member of the organisation already.', { param: 'email' })
      }
      if (await hasPendingInvite(own<OrgsTables>(tx), orgId, email)) {
        throw new Fault('already_exists', 'There is a pending invite for this address.', { param: 'email' })
      }
      await checkProjects(tx, orgId, projects)
      const invite = await insertInvite(tx, {
        id: newId<InviteId>('invite-'),
        org_id: orgId,
        email,
        role,
        projects,
        lifetimeSeconds: inviteLifetimeSeconds,
      })
      await recordAudit(tx, orgId, actorOf(context), inviteSent(invite))
      return inviteView(invite)
    })
  })

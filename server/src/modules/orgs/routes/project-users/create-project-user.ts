import { createProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { AdminScope } from '#platform/http/principal.ts'
import { route } from '#platform/http/route.ts'
import type { BodyOf } from '@switchyard/contracts/operation.ts'
import { assert } from '#platform/std/assert.ts'
import { actorOf } from '../../domain/actor.ts'
import { userAdded } from '../../domain/audit-event.ts'
import { noSuch } from '../../domain/no-such.ts'
import { projectUserView } from '../../domain/user-view.ts'
import { holdOpenProject } from '../../steps/in-project.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { findMember, findMemberByEmail, holdMember, type MemberRow } from '../../store/members.ts'
import { findProjectMember, insertProjectMember } from '../../store/project-members.ts'
import type { OrgsTables } from '../../store/tables.ts'

type Body = BodyOf<typeof createProjectUser>

/** One of the two names the person; who is not in the organisation cannot be added. */
async function getNamedMember(tx: Tx, { orgId }: AdminScope, { user_id: id, email }: Body): Promise<MemberRow> {
  const orgs = own<OrgsTables>(tx)
  const found =
    typeof id === 'string'
      ? await findMember(orgs, orgId, id)
      : typeof email === 'string'
        ? await findMemberByEmail(orgs, orgId, email)
        : null
  if (found === null || !(await holdMember(tx, orgId, found.id))) {
    throw noSuch('user', typeof id === 'string' ? 'user_id' : 'email')
  }
  return found
}

function refuseUnclear({ user_id: id, email }: Body): void {
  if (typeof id === 'string' && typeof email === 'string') {
    throw new Fault('mutually_exclusive_parameters', "Send 'user_id' or 'email', not both.", { param: 'email' })
  }
  if (typeof id !== 'string' && typeof email !== 'string') {
    throw new Fault('missing_required_parameter', "Send 'user_id' or 'email'.", { param: 'user_id' })
  }
}

export const createProjectUserRoute = () =>
  route(createProjectUser, async (context) => {
    const { scope, params, body, commit } = context
    refuseUnclear(body)
    return await commit(async (tx) => {
      const project = await holdOpenProject(tx, scope.orgId, params.project_id)
      const user = await getNamedMember(tx, scope, body)
      const membership = { project_id: project.id, user_id: user.id, org_id: scope.orgId, role: body.role }
      if (!(await insertProjectMember(tx, membership))) {
        throw new Fault('already_exists', 'The user is a member of the project already.')
      }
      await recordAudit(tx, scope.orgId, actorOf(context), userAdded(user.id, body.role, project.id))
      const added = await findProjectMember(own<OrgsTables>(tx), project.id, user.id)
      assert(added !== null, 'a member just added is there')
      return projectUserView(added)
    })
  })

import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import { Fault } from '#platform/errors/fault.ts'

type Use = { readonly orgs: Pick<Orgs, 'findProject'> }

/** Another organisation's project does not exist. */
export async function checkProject(use: Use, orgId: OrgId, id: ProjectId): Promise<{ readonly archived: boolean }> {
  const project = await use.orgs.findProject(id)
  if (project === null || project.orgId !== orgId) throw new Fault('not_found', 'No such project.')
  return project
}

export async function checkOpenProject(use: Use, orgId: OrgId, id: ProjectId): Promise<void> {
  const { archived } = await checkProject(use, orgId, id)
  if (archived) throw new Fault('invalid_state_transition', 'The project is archived.')
}

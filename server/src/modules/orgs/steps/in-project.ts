import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { noSuch } from '../domain/no-such.ts'
import { findProject, holdProject, type ProjectRow } from '../store/projects.ts'
import type { OrgsReader } from '../store/tables.ts'

export const projectArchivedFault = () => new Fault('invalid_state_transition', 'The project is archived.')

export async function getProject(orgs: OrgsReader, orgId: OrgId, id: ProjectId): Promise<ProjectRow> {
  const project = await findProject(orgs, orgId, id)
  if (project === null) throw noSuch('project')
  return project
}

/** For changes inside a project: it is there, open, and stays so until the transaction ends. */
export async function holdOpenProject(tx: Tx, orgId: OrgId, id: ProjectId): Promise<ProjectRow> {
  const project = await holdProject(tx, orgId, id)
  if (project === null) throw noSuch('project')
  if (project.archived_at !== null) throw projectArchivedFault()
  return project
}

import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Tx } from '#platform/db/tx.ts'
import { newId } from '#platform/std/ids.ts'
import type { Actor } from '../domain/actor.ts'
import { projectCreated } from '../domain/audit-event.ts'
import { recordAudit } from '../store/audit-log.ts'
import { insertProject, type ProjectRow } from '../store/projects.ts'

/** A project's id carries the cell's tag, since SIP calls are routed by nothing else. */
export async function makeProject(
  tx: Tx,
  cellTag: string,
  actor: Actor,
  project: { orgId: OrgId; name: string },
): Promise<ProjectRow> {
  const id = newId<ProjectId>(`proj_${cellTag}_`)
  const row = await insertProject(tx, { id, org_id: project.orgId, name: project.name })
  await recordAudit(tx, project.orgId, actor, projectCreated(id, project.name))
  return row
}

import type { OrgId, ProjectId, UserId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { GrantedProject, OrgsReader, OrgsTables, PageOf, ProjectRole } from './tables.ts'

export interface ProjectMemberRow {
  id: UserId
  email: string
  name: string
  role: ProjectRole
  added_at: Date
}

const select = (orgs: OrgsReader, projectId: ProjectId) =>
  orgs
    .selectFrom('orgs.project_member as pm')
    .innerJoin('orgs.user as u', 'u.id', 'pm.user_id')
    .select(['u.id', 'u.email', 'u.name', 'pm.role', 'pm.added_at'])
    .where('pm.project_id', '=', projectId)

export async function findProjectMember(
  orgs: OrgsReader,
  projectId: ProjectId,
  id: UserId,
): Promise<ProjectMemberRow | null> {
  return (await select(orgs, projectId).where('pm.user_id', '=', id).executeTakeFirst()) ?? null
}

export async function listProjectMembers(
  orgs: OrgsReader,
  projectId: ProjectId,
  page: PageOf,
): Promise<ProjectMemberRow[]> {
  return await select(orgs, projectId)
    .$if(page.after !== undefined, (query) => query.where('pm.user_id', '<', page.after as UserId))
    .orderBy('pm.user_id', 'desc')
    .limit(page.limit + 1)
    .execute()
}

/** Adds a member of the organisation. Returns whether they were not in the project before. */
export async function insertProjectMember(
  tx: Tx,
  member: { project_id: ProjectId; user_id: UserId; org_id: OrgId; role: ProjectRole },
): Promise<boolean> {
  const added = await own<OrgsTables>(tx)
    .insertInto('orgs.project_member')
    .values(member)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return added.numInsertedOrUpdatedRows === 1n
}

/** Adds a person to those of the projects that are still open and that they are not in. Returns what was added. */
export async function grantProjects(
  tx: Tx,
  orgId: OrgId,
  userId: UserId,
  projects: readonly GrantedProject[],
): Promise<GrantedProject[]> {
  const { rows } = await sql<GrantedProject>`
    insert into orgs.project_member (project_id, user_id, org_id, role)
      select p.id, ${userId}, p.org_id, granted.role
        from jsonb_to_recordset(${JSON.stringify(projects)}::jsonb) as granted (id text, role text)
        join orgs.project p on p.id = granted.id and p.org_id = ${orgId} and p.archived_at is null
    on conflict do nothing
    returning project_id as id, role`.execute(own<OrgsTables>(tx))
  return rows
}

export async function setProjectRole(tx: Tx, projectId: ProjectId, id: UserId, role: ProjectRole): Promise<boolean> {
  const changed = await own<OrgsTables>(tx)
    .updateTable('orgs.project_member')
    .set({ role })
    .where('project_id', '=', projectId)
    .where('user_id', '=', id)
    .executeTakeFirst()
  return changed.numUpdatedRows === 1n
}

export async function deleteProjectMember(tx: Tx, projectId: ProjectId, id: UserId): Promise<boolean> {
  const gone = await own<OrgsTables>(tx)
    .deleteFrom('orgs.project_member')
    .where('project_id', '=', projectId)
    .where('user_id', '=', id)
    .executeTakeFirst()
  return gone.numDeletedRows === 1n
}

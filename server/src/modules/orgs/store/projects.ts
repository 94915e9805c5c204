import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { OrgsReader, OrgsTables, PageOf } from './tables.ts'

export interface ProjectRow {
  id: ProjectId
  org_id: OrgId
  name: string
  created_at: Date
  archived_at: Date | null
}

const columns = ['id', 'org_id', 'name', 'created_at', 'archived_at'] as const

export async function insertProject(
  tx: Tx,
  project: { id: ProjectId; org_id: OrgId; name: string },
): Promise<ProjectRow> {
  return await own<OrgsTables>(tx)
    .insertInto('orgs.project')
    .values(project)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function findProject(orgs: OrgsReader, orgId: OrgId, id: ProjectId): Promise<ProjectRow | null> {
  const row = await orgs
    .selectFrom('orgs.project')
    .select(columns)
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row ?? null
}

/** Keeps the project as it is until the transaction ends: what is made in it cannot cross its archiving. */
export async function holdProject(tx: Tx, orgId: OrgId, id: ProjectId): Promise<ProjectRow | null> {
  const row = await own<OrgsTables>(tx)
    .selectFrom('orgs.project')
    .select(columns)
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .forShare()
    .executeTakeFirst()
  return row ?? null
}

export async function listProjects(
  orgs: OrgsReader,
  orgId: OrgId,
  page: PageOf & { includeArchived: boolean },
): Promise<ProjectRow[]> {
  return await orgs
    .selectFrom('orgs.project')
    .select(columns)
    .where('org_id', '=', orgId)
    .$if(!page.includeArchived, (query) => query.where('archived_at', 'is', null))
    .$if(page.after !== undefined, (query) => query.where('id', '<', page.after as ProjectId))
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
}

/** Null when it is not there or archived. */
export async function renameProject(tx: Tx, orgId: OrgId, id: ProjectId, name: string): Promise<ProjectRow | null> {
  const row = await own<OrgsTables>(tx)
    .updateTable('orgs.project')
    .set({ name })
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('archived_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
  return row ?? null
}

/** Null when it is not there or someone archived it first. */
export async function archiveProject(tx: Tx, orgId: OrgId, id: ProjectId): Promise<ProjectRow | null> {
  const row = await own<OrgsTables>(tx)
    .updateTable('orgs.project')
    .set({ archived_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('archived_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
  return row ?? null
}

const anywhere = statement<[ProjectId], ProjectRow>(
  'orgs.project-anywhere',
  `select id, org_id, name, created_at, archived_at from orgs.project where id = $1`,
)

const archived = statement<[readonly string[]], { id: ProjectId }>(
  'orgs.archived-of',
  'select id from orgs.project where id = any($1::text[]) and archived_at is not null',
)

export async function listArchivedOf(db: Db<OrgsTables>, ids: readonly ProjectId[]): Promise<ProjectId[]> {
  return ids.length === 0 ? [] : (await db.run(archived, [ids])).map(({ id }) => id)
}

/** For callers who have only the project's name: a SIP address, the command line. */
export async function findProjectAnywhere(db: Db<OrgsTables>, id: ProjectId): Promise<ProjectRow | null> {
  const [row] = await db.run(anywhere, [id])
  return row ?? null
}

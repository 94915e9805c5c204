import type { EvalRunStatus } from '@switchyard/contracts/evals/runs.ts'
import type { RunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import type { EvalRunId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Totals } from '../domain/totals.ts'
import type { EvalsTables, Reason } from './tables.ts'

export interface RunRow {
  id: string
  eval_id: string
  org_id: OrgId
  project_id: ProjectId
  key_id: KeyId
  name: string
  metadata: Record<string, string>
  model: string | null
  data_source: RunDataSource
  status: EvalRunStatus
  error: Reason | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  loaded: boolean
  rows_total: number
  totals: Totals | null
}

const columnNames = [
  'id',
  'eval_id',
  'org_id',
  'project_id',
  'key_id',
  'name',
  'metadata',
  'model',
  'data_source',
  'status',
  'error',
  'created_at',
  'started_at',
  'ended_at',
  'loaded',
  'rows_total',
  'totals',
] as const satisfies readonly (keyof RunRow)[]
export const runColumns = columnNames.join(', ')

export interface NewRun {
  readonly id: EvalRunId
  readonly evalId: string
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly keyId: KeyId
  readonly name: string
  readonly metadata: Readonly<Record<string, string>>
  readonly model: string | null
  readonly dataSource: RunDataSource
}

const insert = statement<[string, string, string, string, string, string, string, string | null, string], RunRow>(
  'evals.insert-run',
  `insert into evals.run (id, eval_id, org_id, project_id, key_id, name, metadata, model, data_source)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${runColumns}`,
)

export async function insertRun(tx: Tx, run: NewRun): Promise<RunRow> {
  const [row] = await tx.run(insert, [
    run.id,
    run.evalId,
    run.orgId,
    run.projectId,
    run.keyId,
    run.name,
    JSON.stringify(run.metadata),
    run.model,
    JSON.stringify(run.dataSource),
  ])
  return row as RunRow
}

/** A run of a deleted eval is not there either. */
const find = statement<[string, string, string], RunRow>(
  'evals.find-run',
  `select ${runColumns} from evals.run r where id = $1 and eval_id = $2 and project_id = $3 and deleted_at is null
     and exists (select 1 from evals.eval e where e.id = r.eval_id and e.deleted_at is null)`,
)

export async function findRun(
  db: Db<EvalsTables>,
  projectId: ProjectId,
  evalId: string,
  id: string,
): Promise<RunRow | null> {
  const [row] = await db.run(find, [id, evalId, projectId])
  return row ?? null
}

const cursor = statement<[string, string], { id: string }>(
  'evals.run-cursor',
  `select id from evals.run where id = $1 and eval_id = $2`,
)

/** Whether a page of the runs of an eval can start after this id. A run deleted a moment ago still can be paged from. */
export async function isRunCursor(db: Db<EvalsTables>, evalId: string, id: string): Promise<boolean> {
  return (await db.run(cursor, [id, evalId])).length === 1
}

export interface RunsPage {
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly status: EvalRunStatus | null
}

/** Rows that a request brought are shown with their run: a page is cut where they become too many bytes. */
const pageBytesMax = 16 * 1024 * 1024

/** At least one, if there is one; `more` says that there is another page. */
export async function listRuns(
  db: Db<EvalsTables>,
  evalId: string,
  page: RunsPage,
): Promise<{ rows: RunRow[]; more: boolean }> {
  const { after, limit, order, status } = page
  const direction = sql.raw(order)
  const { rows } = await sql<RunRow & { found: number }>`
    select ${sql.raw(runColumns)}, found::int from (
      select *, count(*) over () as found,
        sum(octet_length(data_source::text)) over (order by id ${direction}) - octet_length(data_source::text) as bytes_before
      from (
        select * from evals.run where eval_id = ${evalId} and deleted_at is null
          and ${after === null ? sql`true` : sql`id ${sql.raw(order === 'asc' ? '>' : '<')} ${after}`}
          and ${status === null ? sql`true` : sql`status = ${status}`}
        order by id ${direction} limit ${limit + 1}) as page
    ) as counted where bytes_before < ${pageBytesMax} order by id ${direction} limit ${limit}`.execute(db.kysely)
  return { rows, more: (rows[0]?.found ?? 0) > rows.length }
}

/** Holds a run for one decision about it. Always taken before its chunks are. */
export async function lockRun(tx: Tx, id: string): Promise<RunRow | null> {
  const { rows } = await sql<RunRow>`
    select ${sql.raw(runColumns)} from evals.run where id = ${id} and deleted_at is null for update`.execute(
    own<EvalsTables>(tx),
  )
  return rows[0] ?? null
}

const working = statement<[number], { project_id: ProjectId }>(
  'evals.working-projects',
  `select project_id from (
     select project_id, moved_at from evals.run where ended_at is null and not loaded
     union all select project_id, moved_at from evals.chunk where status = 'submitted') as work
   group by project_id order by min(moved_at) limit $1`,
)

/** Projects with runs under way. */
export async function listWorkingProjects(db: Db<EvalsTables>, limit: number): Promise<ProjectId[]> {
  return (await db.run(working, [limit])).map(({ project_id: projectId }) => projectId)
}

const abandoned = statement<[readonly string[], number], { id: string }>(
  'evals.abandoned-runs',
  `select r.id from evals.eval e join evals.run r on r.eval_id = e.id
   where e.deleted_at is not null and r.ended_at is null and r.deleted_at is null
   union select id from evals.run where ended_at is null and not loaded and project_id = any($1::text[])
   union select run_id from evals.chunk where status <> 'done' and project_id = any($1::text[])
   limit $2`,
)

/** Runs that have not ended though their eval was deleted, or are of one of these projects. */
export async function listAbandonedRuns(
  db: Db<EvalsTables>,
  projectIds: readonly ProjectId[],
  limit: number,
): Promise<string[]> {
  return (await db.run(abandoned, [projectIds, limit])).map(({ id }) => id)
}

export async function markRunDeleted(tx: Tx, id: string): Promise<void> {
  await sql`update evals.run set deleted_at = clock_timestamp() where id = ${id}`.execute(own<EvalsTables>(tx))
}

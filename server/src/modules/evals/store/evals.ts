import type { EvalId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { EvalsTables } from './tables.ts'

export interface EvalRow {
  id: string
  org_id: string
  project_id: string
  name: string
  metadata: Record<string, string>
  /** As it was asked for. */
  data_source_config: Record<string, unknown>
  /** With the ids that they were given. */
  testing_criteria: readonly Record<string, unknown>[]
  created_at: Date
  updated_at: Date
}

const columns = 'id, org_id, project_id, name, metadata, data_source_config, testing_criteria, created_at, updated_at'

export interface NewEval {
  readonly id: EvalId
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly name: string
  readonly metadata: Readonly<Record<string, string>>
  readonly dataSourceConfig: object
  readonly testingCriteria: readonly object[]
}

const insert = statement<[string, string, string, string, string, string, string], EvalRow>(
  'evals.insert-eval',
  `insert into evals.eval (id, org_id, project_id, name, metadata, data_source_config, testing_criteria)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
)

export async function insertEval(tx: Tx, made: NewEval): Promise<EvalRow> {
  const [row] = await tx.run(insert, [
    made.id,
    made.orgId,
    made.projectId,
    made.name,
    JSON.stringify(made.metadata),
    JSON.stringify(made.dataSourceConfig),
    JSON.stringify(made.testingCriteria),
  ])
  return row as EvalRow
}

const find = statement<[string, string], EvalRow>(
  'evals.find-eval',
  `select ${columns} from evals.eval where id = $1 and project_id = $2 and deleted_at is null`,
)

export async function findEval(db: Db<EvalsTables>, projectId: ProjectId, id: string): Promise<EvalRow | null> {
  const [row] = await db.run(find, [id, projectId])
  return row ?? null
}

const hold = statement<[string, string], EvalRow>(
  'evals.hold-eval',
  `select ${columns} from evals.eval where id = $1 and project_id = $2 and deleted_at is null for share`,
)

/** Keeps an eval from being deleted until the transaction ends. */
export async function holdEval(tx: Tx, projectId: ProjectId, id: string): Promise<EvalRow | null> {
  const [row] = await tx.run(hold, [id, projectId])
  return row ?? null
}

const cursor = statement<[string, string], { id: string }>(
  'evals.eval-cursor',
  `select id from evals.eval where id = $1 and project_id = $2`,
)

/** Whether a page can start after this id. An eval deleted a moment ago still can be paged from. */
export async function isEvalCursor(db: Db<EvalsTables>, projectId: ProjectId, id: string): Promise<boolean> {
  return (await db.run(cursor, [id, projectId])).length === 1
}

export interface EvalsPage {
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly orderBy: 'created_at' | 'updated_at'
}

/** An eval may be large: a page is cut where they become too many bytes. */
const pageBytesMax = 16 * 1024 * 1024

/** Ids sort by the time they were made. At least one, if there is one; `more` says that there is another page. */
export async function listEvals(
  db: Db<EvalsTables>,
  projectId: ProjectId,
  page: EvalsPage,
): Promise<{ rows: EvalRow[]; more: boolean }> {
  const { after, limit, order, orderBy } = page
  const beyond = sql.raw(order === 'asc' ? '>' : '<')
  const direction = sql.raw(order)
  const byUpdate = orderBy === 'updated_at'
  const from =
    after === null
      ? sql`true`
      : byUpdate
        ? sql`(updated_at, id) ${beyond} (select updated_at, id from evals.eval where id = ${after})`
        : sql`id ${beyond} ${after}`
  const ordered = byUpdate ? sql`updated_at ${direction}, id ${direction}` : sql`id ${direction}`
  const { rows } = await sql<EvalRow & { found: number }>`
    select ${sql.raw(columns)}, found::int from (
      select *, count(*) over () as found, sum(bytes) over (order by ${ordered}) - bytes as bytes_before from (
        select *, octet_length(data_source_config::text) + octet_length(testing_criteria::text) as bytes from evals.eval
        where project_id = ${projectId} and deleted_at is null and ${from}
        order by ${ordered} limit ${limit + 1}) as page
    ) as counted where bytes_before < ${pageBytesMax} order by ${ordered} limit ${limit}`.execute(db.kysely)
  return { rows, more: (rows[0]?.found ?? 0) > rows.length }
}

/** Null leaves a field as it is. */
const update = statement<[string, string, string | null, string | null], EvalRow>(
  'evals.update-eval',
  `update evals.eval set name = coalesce($3, name), metadata = coalesce($4::json, metadata), updated_at = clock_timestamp()
   where id = $1 and project_id = $2 and deleted_at is null returning ${columns}`,
)

export async function updateEval(
  db: Db<EvalsTables>,
  projectId: ProjectId,
  id: string,
  change: { readonly name?: string; readonly metadata?: Readonly<Record<string, string>> },
): Promise<EvalRow | null> {
  const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
  const [row] = await db.run(update, [id, projectId, change.name ?? null, metadata])
  return row ?? null
}

/** False when the project has no such eval. What it had is removed later. */
export async function markEvalDeleted(tx: Tx, projectId: ProjectId, id: string): Promise<boolean> {
  const { rows } = await sql`
    update evals.eval set deleted_at = clock_timestamp()
    where id = ${id} and project_id = ${projectId} and deleted_at is null returning id`.execute(own<EvalsTables>(tx))
  return rows.length === 1
}

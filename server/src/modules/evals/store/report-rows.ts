import type { CriterionOutcome, OutputItemStatus, OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { EvalsTables, Reason } from './tables.ts'

/** The place of a row in the order of a report: errored rows, then failed, then passed, as the statuses sort. */
export interface Place {
  readonly status: OutputItemStatus
  readonly n: number
}

export interface ListedRow {
  n: number
  status: OutputItemStatus
  passed: (boolean | null)[]
  /** Why it erred. */
  reason: string | null
  /** The rest is null where it is too large for a list. */
  item: Record<string, unknown> | null
  given: Record<string, unknown> | null
  sample: OutputSample | null
  results: CriterionOutcome[] | null
}

export interface ReportPage {
  /** Null: rows of every status. */
  readonly show: OutputItemStatus | null
  /** Go on from here; null is the begin. */
  readonly from: Place | null
  readonly way: 'after' | 'before'
  readonly limit: number
}

const storedBytesMax = 16 * 1024
const textBytesMax = 64 * 1024
const reasonMax = 500

/** As it is kept, first: the size of a large value is then known without unpacking it. */
const ifSmall = (value: string, as: string) =>
  `case when pg_column_size(${value}) <= ${storedBytesMax} and octet_length(${value}::text) <= ${textBytesMax}
     then ${value} end as ${as}`

/** PostgreSQL takes nothing out of JSON that has U+0000 or half a surrogate pair anywhere in it, and rows and models may. */
const readable = (value: string) =>
  String.raw`regexp_replace(${value}::text, '\\u(0000|d[89a-f][0-9a-f]{2})', '\\ufffd', 'g')::json`

const listed = sql.raw(
  [
    'r.n, r.status, r.passed',
    `case when r.status = 'error' then left(${readable('r.sample')} #>> '{error,message}', ${reasonMax}) end as reason`,
    ifSmall('w.item', 'item'),
    ifSmall('w.sample', 'given'),
    ifSmall('r.sample', 'sample'),
    ifSmall('r.results', 'results'),
  ].join(', '),
)

/**
 * Chosen from the index alone, however many rows there are. Those of one status are found by where they begin and left
 * out where they end: asked for by their status, they seem so few to a planner without statistics that it sorts them all.
 */
function picked(runId: string, { show, from, way, limit }: ReportPage) {
  const beyond = sql.raw(way === 'after' ? '>' : '<')
  const order = sql.raw(way === 'after' ? 'asc' : 'desc')
  const status = show ?? from?.status
  const placed =
    status === undefined ? sql`true` : sql`(r.status, r.n) ${beyond} (${status}::text, ${from?.n ?? -1}::int)`
  return sql<{ n: number }>`
    picked as materialized (
      select r.n, r.status from evals.result r where r.run_id = ${runId} and ${placed}
      order by r.status ${order}, r.n ${order} limit ${limit})`
}

/** From the place on, the way that was asked for. One row more than asked for says that there are more. */
export async function listReportRows(db: Db<EvalsTables>, runId: string, page: ReportPage): Promise<ListedRow[]> {
  const order = sql.raw(page.way === 'after' ? 'asc' : 'desc')
  const { rows } = await sql<ListedRow>`
    with ${picked(runId, { ...page, limit: page.limit + 1 })}
    select ${listed} from picked
    join evals.result r on r.run_id = ${runId} and r.n = picked.n
    join evals.row w on w.run_id = ${runId} and w.n = picked.n
    where ${page.show}::text is null or picked.status = ${page.show}::text
    order by r.status ${order}, r.n ${order}`.execute(db.kysely)
  return rows
}

/** The row before or after one, in the order of the report. */
export async function findNeighbour(
  db: Db<EvalsTables>,
  runId: string,
  page: Omit<ReportPage, 'limit'>,
): Promise<number | null> {
  const { rows } = await sql<{ n: number }>`
    with ${picked(runId, { ...page, limit: 1 })}
    select n from picked where ${page.show}::text is null or status = ${page.show}::text`.execute(db.kysely)
  return rows[0]?.n ?? null
}

export interface WholeRow {
  n: number
  item: Record<string, unknown>
  given: Record<string, unknown> | null
  error: Reason | null
  /** Null, and with it the rest, while it has no result. */
  status: OutputItemStatus | null
  created_at: Date | null
  passed: (boolean | null)[] | null
  sample: OutputSample | null
  results: CriterionOutcome[] | null
}

const find = statement<[string, number], WholeRow>(
  'evals.find-whole-row',
  `select w.n, w.item, w.sample as given, w.error, r.status, r.created_at, r.passed, r.sample, r.results
   from evals.row w left join evals.result r on r.run_id = w.run_id and r.n = w.n where w.run_id = $1 and w.n = $2`,
)

export async function findWholeRow(db: Db<EvalsTables>, runId: string, n: number): Promise<WholeRow | null> {
  const [row] = await db.run(find, [runId, n])
  return row ?? null
}

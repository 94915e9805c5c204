import { sql, type RawBuilder } from 'kysely'
import type { OutputItemStatus } from '@switchyard/contracts/evals/output-items.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { ModelUse, Totals } from '../domain/totals.ts'
import type { EvalsTables } from './tables.ts'

export interface NewResult {
  readonly runId: string
  readonly n: number
  /** The chunk that the row belongs to, and the attempt that worked on it. */
  readonly chunk: number
  readonly attempt: number
  readonly status: OutputItemStatus
  readonly passed: readonly (boolean | null)[]
  readonly sample: object
  readonly results: readonly object[]
  readonly usage: readonly ModelUse[]
}

/** Kept: written now. There: it was written before. Lost: another attempt has the chunk, or the run is over. */
export type Written = 'kept' | 'there' | 'lost'

const insert = statement<
  [string[], number[], number[], number[], string[], string[], string[], string[], string[]],
  { run_id: string; n: number; kept: boolean }
>(
  'evals.insert-results',
  `with given as (
     select * from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[]) as g (run_id, n, chunk, attempt, status, passed, sample, results, usage)
   ), held as (
     select c.run_id, c.n from evals.chunk c
     where (c.run_id, c.n, c.attempt) in (select run_id, chunk, attempt from given) and c.status = 'submitted'
     for share
   ), written as (
     insert into evals.result (run_id, n, status, passed, sample, results, usage)
     select g.run_id, g.n, g.status, g.passed::boolean[], g.sample::json, g.results::json, g.usage::json
     from given g join held on held.run_id = g.run_id and held.n = g.chunk
     on conflict do nothing returning run_id, n
   )
   select g.run_id, g.n, w.n is not null as kept from given g join held on held.run_id = g.run_id and held.n = g.chunk
   left join written w on w.run_id = g.run_id and w.n = g.n`,
)

/** Writes results of rows, of any chunks; says for each, in order, what became of it. */
export async function insertResults(tx: Tx, given: readonly NewResult[]): Promise<Written[]> {
  const rows = await tx.run(insert, [
    given.map(({ runId }) => runId),
    given.map(({ n }) => n),
    given.map(({ chunk }) => chunk),
    given.map(({ attempt }) => attempt),
    given.map(({ status }) => status),
    given.map(({ passed }) => `{${passed.map((one) => one ?? 'null').join(',')}}`),
    given.map(({ sample }) => JSON.stringify(sample)),
    given.map(({ results }) => JSON.stringify(results)),
    given.map(({ usage }) => JSON.stringify(usage.map((u) => [u.model, u.calls, u.prompt, u.completion, u.cached]))),
  ])
  const found = new Map(rows.map(({ run_id: runId, n, kept }) => [`${runId}:${n}`, kept]))
  return given.map(({ runId, n }) => {
    const kept = found.get(`${runId}:${n}`)
    return kept === undefined ? 'lost' : kept ? 'kept' : 'there'
  })
}

/** The sums over results, as JSON of the form `Totals`. `which` chooses them by the name `r`. */
export function totalsOfResults(which: RawBuilder<unknown>): RawBuilder<{ totals: Totals }> {
  return sql`
    select json_build_object(
      'passed', count(*) filter (where r.status = 'pass'), 'failed', count(*) filter (where r.status = 'fail'),
      'errored', count(*) filter (where r.status = 'error'),
      'criteria', coalesce((
        select json_agg(json_build_object('passed', passed, 'failed', failed) order by at) from (
          select at, count(*) filter (where ok) as passed, count(*) filter (where not ok) as failed
          from evals.result r, unnest(r.passed) with ordinality as judged (ok, at) where ${which} group by at) as by_criterion
      ), '[]'::json),
      'models', coalesce((
        select json_agg(json_build_object('model', model, 'calls', calls, 'prompt', prompt, 'completion', completion,
          'cached', cached) order by model) from (
          select u ->> 0 as model, sum((u ->> 1)::bigint) as calls, sum((u ->> 2)::bigint) as prompt,
            sum((u ->> 3)::bigint) as completion, sum((u ->> 4)::bigint) as cached
          from evals.result r, json_array_elements(r.usage) as u where ${which} group by u ->> 0) as by_model
      ), '[]'::json)) as totals
    from evals.result r where ${which}`
}

export interface ResultRow {
  n: number
  status: OutputItemStatus
  created_at: Date
  sample: Record<string, unknown>
  results: readonly Record<string, unknown>[]
  item: Record<string, unknown>
}

const columns = `r.n, r.status, r.created_at, r.sample, r.results, w.item`
const joined = `evals.result r join evals.row w on w.run_id = r.run_id and w.n = r.n`

const find = statement<[string, number], ResultRow>(
  'evals.find-result',
  `select ${columns} from ${joined} where r.run_id = $1 and r.n = $2`,
)

export async function findResult(db: Db<EvalsTables>, runId: string, n: number): Promise<ResultRow | null> {
  const [row] = await db.run(find, [runId, n])
  return row ?? null
}

export interface ResultsPage {
  /** The row to go on after. */
  readonly after: number | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly status: OutputItemStatus | null
}

/** Items may be large: a page is cut where they become too many bytes. */
const pageBytesMax = 32 * 1024 * 1024

/** At least one, if there is one; `more` says that there is another page. */
export async function listResults(
  db: Db<EvalsTables>,
  runId: string,
  page: ResultsPage,
): Promise<{ rows: ResultRow[]; more: boolean }> {
  const { after, limit, order, status } = page
  const direction = sql.raw(order)
  const { rows } = await sql<ResultRow & { found: number }>`
    with page as (
      select ${sql.raw(columns)},
        octet_length(r.sample::text) + octet_length(r.results::text) + octet_length(w.item::text) as bytes
      from ${sql.raw(joined)} where r.run_id = ${runId}
        and ${after === null ? sql`true` : sql`r.n ${sql.raw(order === 'asc' ? '>' : '<')} ${after}`}
        and ${status === null ? sql`true` : sql`r.status = ${status}`}
      order by r.n ${direction} limit ${limit + 1}
    ), counted as (
      select *, count(*) over () as found, sum(bytes) over (order by n ${direction}) - bytes as bytes_before from page
    )
    select n, status, created_at, sample, results, item, found::int from counted
    where bytes_before < ${pageBytesMax} order by n ${direction} limit ${limit}`.execute(db.kysely)
  return { rows, more: (rows[0]?.found ?? 0) > rows.length }
}

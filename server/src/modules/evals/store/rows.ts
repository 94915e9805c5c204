import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { EvalsTables, Reason } from './tables.ts'

export interface NewRow {
  readonly n: number
  /** JSON. */
  readonly item: string
  /** JSON. */
  readonly sample: string | null
  readonly error: Reason | null
}

const insert = statement<[string, number, number[], string[], (string | null)[], (string | null)[]], { n: number }>(
  'evals.insert-rows',
  `with held as (
     select id from evals.run where id = $1 and attempt = $2 and ended_at is null and not loaded for share
   ), written as (
     insert into evals.row (run_id, n, item, sample, error)
     select held.id, given.n, given.item::json, given.sample::json, given.error::json
     from held, unnest($3::int[], $4::text[], $5::text[], $6::text[]) as given (n, item, sample, error)
     on conflict do nothing
   )
   select 1 as n from held`,
)

/** A source gives the same rows again, so those that an earlier attempt wrote are the same. The rows are for `fenced`. */
export async function insertRows(
  db: Db<EvalsTables>,
  runId: string,
  attempt: number,
  rows: readonly NewRow[],
): Promise<readonly unknown[]> {
  return await db.run(insert, [
    runId,
    attempt,
    rows.map(({ n }) => n),
    rows.map(({ item }) => item),
    rows.map(({ sample }) => sample),
    rows.map(({ error }) => (error === null ? null : JSON.stringify(error))),
  ])
}

const clear = statement<[string, number], never>(
  'evals.clear-rows',
  `delete from evals.row where run_id = $1
     and exists (select 1 from evals.run where id = $1 and attempt = $2 and ended_at is null and not loaded)`,
)

/** What an earlier attempt read from a source that may have changed since. */
export async function clearRows(db: Db<EvalsTables>, runId: string, attempt: number): Promise<void> {
  await db.run(clear, [runId, attempt])
}

const count = statement<[string], { count: number }>(
  'evals.count-rows',
  `select coalesce(max(n) + 1, 0) as count from evals.row where run_id = $1`,
)

/** How far the rows of a run are written, asked by the attempt that has it: they are written in order, without a gap. */
export async function countRows(db: Db<EvalsTables>, runId: string): Promise<number> {
  return (await db.run(count, [runId]))[0]?.count ?? 0
}

export interface GradedRow {
  n: number
  item: Record<string, unknown>
  sample: Record<string, unknown> | null
  error: Reason | null
}

// Both by their range: of a run that began since the last ANALYZE the planner expects a single result, and a join on n
// alone would read all results of the run for every row.
const open = statement<[string, number, number], { n: number }>(
  'evals.open-rows',
  `select n from evals.row where run_id = $1 and n between $2 and $3
   except select n from evals.result where run_id = $1 and n between $2 and $3
   order by n`,
)

/** Rows of a chunk that have no result yet. */
export async function listOpenRows(
  db: Db<EvalsTables>,
  runId: string,
  { first, last }: { first: number; last: number },
): Promise<number[]> {
  return (await db.run(open, [runId, first, last])).map(({ n }) => n)
}

/** One look into the index for each: a plan that was made while the table was small would read all of it for ever after. */
const read = statement<[string[], number[]], GradedRow & { run_id: string }>(
  'evals.read-rows',
  `select found.* from unnest($1::text[], $2::int[]) as asked (run_id, n), lateral (
     select w.run_id, w.n, w.item, w.sample, w.error from evals.row w
     where w.run_id = asked.run_id and w.n = asked.n limit 1) as found`,
)

/** Rows of any runs. One that is gone is left out. */
export async function readRows(
  db: Db<EvalsTables>,
  asks: readonly { readonly runId: string; readonly n: number }[],
): Promise<(GradedRow & { run_id: string })[]> {
  return await db.run(read, [asks.map(({ runId }) => runId), asks.map(({ n }) => n)])
}

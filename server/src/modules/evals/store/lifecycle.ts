import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Totals } from '../domain/totals.ts'
import { runColumns, type RunRow } from './runs.ts'
import type { EvalsTables, Reason } from './tables.ts'

export interface ClaimedRun extends RunRow {
  attempt: number
}

const claim = statement<[string], ClaimedRun>(
  'evals.claim-load',
  `update evals.run set attempt = attempt + 1, moved_at = clock_timestamp(), status = 'in_progress',
     started_at = coalesce(started_at, clock_timestamp())
   where id = $1 and ended_at is null and not loaded returning ${runColumns}, attempt`,
)

/** Takes the loading of the rows. Null when it is done, or the run has ended or is gone. */
export async function claimLoading(db: Db<EvalsTables>, id: string): Promise<ClaimedRun | null> {
  const [row] = await db.run(claim, [id])
  return row ?? null
}

const touch = statement<[string, number], { id: string }>(
  'evals.touch-load',
  `update evals.run set moved_at = clock_timestamp()
   where id = $1 and attempt = $2 and ended_at is null and not loaded returning id`,
)

/** Shows that an attempt is alive. False: it is not ours any more. */
export async function touchLoading(db: Db<EvalsTables>, id: string, attempt: number): Promise<boolean> {
  return (await db.run(touch, [id, attempt])).length === 1
}

/** All rows are there. The rows returned are for `fenced`. */
export async function markLoaded(tx: Tx, id: string, attempt: number, rowsTotal: number): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update evals.run set loaded = true, rows_total = ${rowsTotal}, stalls = 0
    where id = ${id} and attempt = ${attempt} and ended_at is null and not loaded returning id`.execute(
    own<EvalsTables>(tx),
  )
  return rows
}

export type RunOutcome = 'completed' | 'failed' | 'canceled'

/** Ends a run that `lockRun` holds. */
export async function endRun(
  tx: Tx,
  id: string,
  { outcome, error, totals }: { outcome: RunOutcome; error: Reason | null; totals: Totals },
): Promise<void> {
  await sql`
    update evals.run set status = ${outcome}, error = ${error === null ? null : JSON.stringify(error)},
      totals = ${JSON.stringify(totals)}, ended_at = clock_timestamp()
    where id = ${id} and ended_at is null`.execute(own<EvalsTables>(tx))
}

/** Doubles with every stall in a row: a machine that is merely slow must not be given its work again and again. */
export async function stalledLoads(
  tx: Tx,
  limit: number,
  stalledMs: number,
): Promise<{ id: string; generation: number }[]> {
  const { rows } = await sql<{ id: string; generation: number }>`
    update evals.run set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
    where id in (
      select id from evals.run
      where ended_at is null and not loaded and load_submitted
        and moved_at < clock_timestamp() - 2 ^ least(stalls, 6) * ${stalledMs} * interval '1 millisecond'
      order by moved_at limit ${limit} for update skip locked)
    returning id, generation`.execute(own<EvalsTables>(tx))
  return rows
}

/** Whoever deletes what a page shows asks for the next page after something deleted. */
const longDeleted = sql.raw(`deleted_at < now() - interval '10 minutes'`)

/** What has ended has totals. Of a deleted run they are the last to go: without them nothing but its place is left. */
const deletedRun = statement<[], { id: string }>(
  'evals.deleted-run',
  `select id from evals.run where deleted_at is not null and totals is not null order by deleted_at limit 1`,
)

/** Removes some rows of a deleted run, or places of those deleted long ago. Returns how many, 0 when there are none. */
export async function clearDeletedRun(db: Db<EvalsTables>, rowsMax: number): Promise<number> {
  const [run] = await db.run(deletedRun, [])
  if (run === undefined) {
    const { numAffectedRows: places = 0n } = await sql`
      delete from evals.run where id in (
        select id from evals.run where ${longDeleted} and totals is null order by deleted_at limit ${rowsMax})`.execute(
      db.kysely,
    )
    return Number(places)
  }
  return await db.tx(async (tx) => {
    const tables = own<EvalsTables>(tx)
    const { numAffectedRows: removed = 0n } = await sql`
      with results as (
        delete from evals.result where run_id = ${run.id} and n in
          (select n from evals.result where run_id = ${run.id} order by n limit ${rowsMax})
      ), chunks as (
        delete from evals.chunk where run_id = ${run.id}
      )
      delete from evals.row where run_id = ${run.id} and n in
        (select n from evals.row where run_id = ${run.id} order by n limit ${rowsMax})`.execute(tables)
    if (removed === 0n) {
      await sql`update evals.run set totals = null, data_source = '{}' where id = ${run.id}`.execute(tables)
    }
    return Number(removed) + 1
  })
}

/** A deleted eval goes after its runs. Returns how many runs were marked, or evals were removed. */
export async function clearDeletedEvals(db: Db<EvalsTables>, limit: number): Promise<number> {
  return await db.tx(async (tx) => {
    const tables = own<EvalsTables>(tx)
    const { numAffectedRows: marked = 0n } = await sql`
      update evals.run set deleted_at = clock_timestamp() where id in (
        select r.id from evals.eval e join evals.run r on r.eval_id = e.id
        where e.deleted_at is not null and r.deleted_at is null and r.ended_at is not null
        limit ${limit})`.execute(tables)
    const { numAffectedRows: removed = 0n } = await sql`
      delete from evals.eval where id in (
        select id from evals.eval e where ${longDeleted}
          and not exists (select 1 from evals.run r where r.eval_id = e.id) order by deleted_at limit ${limit})`.execute(
      tables,
    )
    return Number(marked + removed)
  })
}

import { sql } from 'kysely'
import type { EvalRunStatus } from '@switchyard/contracts/evals/runs.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Chunks, type ChunkName } from '#platform/durable/chunks.ts'
import { addTotals, type Totals } from '../domain/totals.ts'
import { totalsOfResults } from './results.ts'
import { runColumns, type RunRow } from './runs.ts'
import type { EvalsTables } from './tables.ts'

export const chunks = new Chunks({ table: 'evals.chunk', owner: 'run_id' })

/** Cuts the rows of a run into chunks. All of them wait. */
export async function insertChunks(
  tx: Tx,
  { id, project_id: projectId }: Pick<RunRow, 'id' | 'project_id'>,
  rows: number,
  rowsPerChunk: number,
): Promise<void> {
  await sql`
    insert into evals.chunk (run_id, n, project_id, first_row, last_row)
    select ${id}, at / ${rowsPerChunk}::int, ${projectId}, at, least(at + ${rowsPerChunk}::int, ${rows}::int) - 1
    from generate_series(0, ${rows}::int - 1, ${rowsPerChunk}::int) as at`.execute(own<EvalsTables>(tx))
}

export interface ClaimedChunk extends RunRow {
  attempt: number
  /** How often in a row it was taken up and nothing more was heard. */
  stalls: number
  first_row: number
  last_row: number
  testing_criteria: readonly Record<string, unknown>[]
}

const runOfChunk = runColumns
  .split(', ')
  .map((column) => `r.${column}`)
  .join(', ')

const claim = statement<[string, number], ClaimedChunk>(
  'evals.claim-chunk',
  `update evals.chunk c set attempt = c.attempt + 1, moved_at = clock_timestamp()
   from evals.run r join evals.eval e on e.id = r.eval_id
   where r.id = c.run_id and c.run_id = $1 and c.n = $2 and c.status = 'submitted'
   returning c.attempt, c.stalls, c.first_row, c.last_row, e.testing_criteria, ${runOfChunk}`,
)

/** Takes a chunk. Null when it is done or gone. */
export async function claimChunk(db: Db<EvalsTables>, { ownerId, n }: ChunkName): Promise<ClaimedChunk | null> {
  const [row] = await db.run(claim, [ownerId, n])
  return row ?? null
}

const touch = statement<[string, number, number], { status: EvalRunStatus }>(
  'evals.touch-chunk',
  `update evals.chunk c set moved_at = clock_timestamp() from evals.run r
   where r.id = c.run_id and c.run_id = $1 and c.n = $2 and c.attempt = $3 and c.status = 'submitted'
   returning r.status`,
)

/** Shows that an attempt is alive, and tells how its run stands. Null: the chunk is not ours any more. */
export async function touchChunk(
  db: Db<EvalsTables>,
  { ownerId, n }: ChunkName,
  attempt: number,
): Promise<EvalRunStatus | null> {
  const [row] = await db.run(touch, [ownerId, n, attempt])
  return row?.status ?? null
}

const ofChunk = sql`r.run_id = c.run_id and r.n between c.first_row and c.last_row`

/** A chunk is done: its sums are written. The rows returned are for `fenced`. */
export async function closeChunk(tx: Tx, { ownerId, n }: ChunkName, attempt: number): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update evals.chunk c set status = 'done', totals = (${totalsOfResults(ofChunk)})
    where c.run_id = ${ownerId} and c.n = ${n} and c.attempt = ${attempt} and c.status = 'submitted' returning n`.execute(
    own<EvalsTables>(tx),
  )
  return rows
}

/** Ends all chunks of a run that `lockRun` holds. Whoever works on one finds that it is not theirs any more. */
export async function closeAllChunks(tx: Tx, runId: string): Promise<void> {
  await sql`
    update evals.chunk c set status = 'done',
      totals = case when status = 'submitted' then (${totalsOfResults(ofChunk)}) end
    where c.run_id = ${runId} and c.status <> 'done'`.execute(own<EvalsTables>(tx))
}

/** The sums of a run whose chunks are all done. */
export async function sumChunks(tx: Tx, runId: string): Promise<Totals> {
  const { rows } = await sql<{ totals: Totals }>`
    select totals from evals.chunk where run_id = ${runId} and totals is not null`.execute(own<EvalsTables>(tx))
  return addTotals(rows.map(({ totals }) => totals))
}

/** How far a run has come: sums that its chunks have written, and the results of those under way. */
export async function totalsSoFar(db: Db<EvalsTables>, runId: string): Promise<Totals> {
  const { rows } = await sql<{ totals: Totals }>`
    select case when c.status = 'done' then c.totals else (${totalsOfResults(ofChunk)}) end as totals
    from evals.chunk c where c.run_id = ${runId} and (c.totals is not null or c.status = 'submitted')`.execute(
    db.kysely,
  )
  return addTotals(rows.map(({ totals }) => totals))
}

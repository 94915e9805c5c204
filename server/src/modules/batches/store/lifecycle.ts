import type { BatchError } from '@switchyard/contracts/batches.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Totals } from '../domain/batch-view.ts'
import { batchColumns, type BatchRow } from './batches.ts'
import type { BatchesTables, BatchOutcome } from './tables.ts'

export interface ClaimedBatch extends BatchRow {
  attempt: number
}

const claimValidation = statement<[string], ClaimedBatch>(
  'batches.claim-validation',
  `update batches.batch set attempt = attempt + 1, moved_at = clock_timestamp() where id = $1 and status = 'validating'
   returning ${batchColumns}, attempt`,
)

/** Takes the reading of the input file. Null when it is done, cancelled or gone. */
export async function claimValidating(db: Db<BatchesTables>, id: string): Promise<ClaimedBatch | null> {
  const [row] = await db.run(claimValidation, [id])
  return row ?? null
}

const claimEnd = statement<[string], ClaimedBatch>(
  'batches.claim-finish',
  `update batches.batch set attempt = attempt + 1, moved_at = clock_timestamp()
   where id = $1 and finishing and ended_at is null returning ${batchColumns}, attempt`,
)

/** Takes the writing of the files. Null when it is done or not due. */
export async function claimFinishing(db: Db<BatchesTables>, id: string): Promise<ClaimedBatch | null> {
  const [row] = await db.run(claimEnd, [id])
  return row ?? null
}

const touch = statement<[string, number], { id: string }>(
  'batches.touch',
  `update batches.batch set moved_at = clock_timestamp() where id = $1 and attempt = $2 and ended_at is null returning id`,
)

/** Shows that an attempt is alive. False: it is not ours any more. */
export async function touchBatch(db: Db<BatchesTables>, id: string, attempt: number): Promise<boolean> {
  return (await db.run(touch, [id, attempt])).length === 1
}

export interface Validated {
  readonly model: string
  readonly limitGroup: string
  readonly queuedTokens: number
  readonly linesTotal: number
}

/** The file is in order: its lines may run. The rows returned are for `fenced`. */
export async function beginBatch(
  tx: Tx,
  id: string,
  attempt: number,
  { model, limitGroup, queuedTokens, linesTotal }: Validated,
): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update batches.batch set status = 'in_progress', in_progress_at = clock_timestamp(), moved_at = clock_timestamp(),
      stalls = 0, model = ${model}, limit_group = ${limitGroup}, queued_tokens = ${queuedTokens}, lines_total = ${linesTotal}
    where id = ${id} and attempt = ${attempt} and status = 'validating' returning id`.execute(own<BatchesTables>(tx))
  return rows
}

export interface Ended {
  readonly outcome: BatchOutcome
  readonly errors?: readonly BatchError[]
  readonly totals: Totals
  readonly outputFileId: string | null
  readonly errorFileId: string | null
}

/**
 * Ends a batch, by the attempt that holds it. One whose file was refused may have been cancelled meanwhile, and ends as
 * that. The rows returned are for `fenced`.
 */
export async function endBatch(tx: Tx, id: string, attempt: number, ended: Ended): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update batches.batch set status = ${ended.outcome}, outcome = ${ended.outcome}, ended_at = clock_timestamp(),
      errors = ${ended.errors === undefined ? null : JSON.stringify(ended.errors)}, totals = ${JSON.stringify(ended.totals)},
      output_file_id = ${ended.outputFileId}, error_file_id = ${ended.errorFileId}
    where id = ${id} and attempt = ${attempt} and ended_at is null
      and (status = 'validating') = ${ended.outcome === 'failed'} returning id`.execute(own<BatchesTables>(tx))
  return rows
}

/** Begins to end a batch that `lockBatch` holds: no further line of it is begun. */
export async function closeLanes(tx: Tx, id: string, outcome: Exclude<BatchOutcome, 'failed'>): Promise<void> {
  const cancelled = outcome === 'cancelled'
  await sql`
    update batches.batch set outcome = ${outcome}, status = ${cancelled ? 'cancelling' : 'finalizing'},
      cancelling_at = case when ${cancelled} then clock_timestamp() else cancelling_at end,
      finalizing_at = case when ${cancelled} then finalizing_at else clock_timestamp() end
    where id = ${id}`.execute(own<BatchesTables>(tx))
  await sql`
    update batches.chunk set status = 'done' where batch_id = ${id} and status = 'waiting'`.execute(
    own<BatchesTables>(tx),
  )
}

/** Its last step is due. Returns the generation to submit it under. */
export async function markFinishing(tx: Tx, id: string): Promise<number> {
  const { rows } = await sql<{ generation: number }>`
    update batches.batch set finishing = true, generation = generation + 1, stalls = 0, moved_at = clock_timestamp()
    where id = ${id} returning generation`.execute(own<BatchesTables>(tx))
  return rows[0]?.generation ?? 0
}

export type MovingStep = 'validating' | 'finishing'

/** Doubles with every stall in a row: a machine that is merely slow must not be given its work again and again. */
export async function stalledBatches(
  tx: Tx,
  step: MovingStep,
  limit: number,
  stalledMs: number,
): Promise<{ id: string; generation: number }[]> {
  const due = step === 'validating' ? sql`status = 'validating'` : sql`finishing`
  const { rows } = await sql<{ id: string; generation: number }>`
    update batches.batch set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
    where id in (
      select id from batches.batch
      where ended_at is null and (finishing or status = 'validating') and ${due}
        and moved_at < clock_timestamp() - 2 ^ least(stalls, 6) * ${stalledMs} * interval '1 millisecond'
      order by moved_at limit ${limit} for update skip locked)
    returning id, generation`.execute(own<BatchesTables>(tx))
  return rows
}

const due = statement<[number], { id: string }>(
  'batches.due',
  `select id from batches.batch where status in ('validating', 'in_progress') and expires_at <= clock_timestamp()
   order by expires_at limit $1`,
)

/** Batches whose time is over and that nobody has begun to end. */
export async function listDue(db: Db<BatchesTables>, limit: number): Promise<string[]> {
  return (await db.run(due, [limit])).map(({ id }) => id)
}

const openProjects = statement<[number], { project_id: ProjectId }>(
  'batches.open-projects',
  `select distinct project_id from batches.batch where status in ('validating', 'in_progress') limit $1`,
)

/** Projects with batches that nobody has begun to end. */
export async function listOpenProjects(db: Db<BatchesTables>, limit: number): Promise<ProjectId[]> {
  return (await db.run(openProjects, [limit])).map(({ project_id: projectId }) => projectId)
}

const ofProjects = statement<[readonly string[], number], { id: string }>(
  'batches.open-of-projects',
  `select id from batches.batch where status in ('validating', 'in_progress') and project_id = any($1::text[]) limit $2`,
)

export async function listOpenOf(
  db: Db<BatchesTables>,
  projectIds: readonly ProjectId[],
  limit: number,
): Promise<string[]> {
  return projectIds.length === 0 ? [] : (await db.run(ofProjects, [projectIds, limit])).map(({ id }) => id)
}

/** Whether its time is over, asked while `lockBatch` holds it. */
export async function isDue(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select status in ('validating', 'in_progress') and expires_at <= clock_timestamp() as due
    from batches.batch where id = ${id}`.execute(own<BatchesTables>(tx))
  return rows[0]?.due ?? false
}

export interface Queued {
  readonly organization: number
  readonly project: number
}

/** Two batches of an organisation that begin at once must see each other. Held until the transaction ends. */
export async function lockQueue(tx: Tx, orgId: string): Promise<void> {
  await sql`select 1 from pg_advisory_xact_lock(hashtextextended('batches of ' || ${orgId}, 0))`.execute(
    own<BatchesTables>(tx),
  )
}

/** Input tokens that batches of an organisation have queued in a limit group. */
export async function queuedTokens(tx: Tx, orgId: string, projectId: string, group: string): Promise<Queued> {
  const { rows } = await sql<Queued>`
    select coalesce(sum(queued_tokens), 0) as organization,
      coalesce(sum(queued_tokens) filter (where project_id = ${projectId}), 0) as project
    from batches.batch where org_id = ${orgId} and limit_group = ${group} and ended_at is null and queued_tokens > 0`.execute(
    own<BatchesTables>(tx),
  )
  return rows[0] ?? { organization: 0, project: 0 }
}

import type { BatchEndpoint, BatchStatus } from '@switchyard/contracts/batches.ts'
import type { FileId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { totalsOfLines } from './results.ts'
import type { BatchesTables } from './tables.ts'

export interface ChunkName {
  readonly batchId: string
  readonly n: number
}

export interface SubmittedChunk extends ChunkName {
  readonly generation: number
}

/** Cuts the lines of a batch into chunks. All of them wait. */
export async function insertChunks(tx: Tx, batchId: string, projectId: string, linesPerChunk: number): Promise<void> {
  await sql`
    insert into batches.chunk (batch_id, n, project_id, first_line, last_line)
    select ${batchId}, chunk, ${projectId}, min(n), max(n)
    from (select n, ((row_number() over (order by n)) - 1) / ${linesPerChunk}::int as chunk
          from batches.line where batch_id = ${batchId}) as numbered
    group by chunk`.execute(own<BatchesTables>(tx))
}

export interface ClaimedChunk {
  attempt: number
  first_line: number
  last_line: number
  org_id: OrgId
  project_id: ProjectId
  key_id: KeyId
  endpoint: BatchEndpoint
  input_file_id: FileId
  model: string
  status: BatchStatus
}

const claim = statement<[string, number], ClaimedChunk>(
  'batches.claim-chunk',
  `update batches.chunk c set attempt = c.attempt + 1, moved_at = clock_timestamp()
   from batches.batch b where b.id = c.batch_id and c.batch_id = $1 and c.n = $2 and c.status = 'submitted'
   returning c.attempt, c.first_line, c.last_line, b.org_id, b.project_id, b.key_id, b.endpoint, b.input_file_id,
     b.model, b.status`,
)

/** Takes a chunk. Null when it is done or gone. */
export async function claimChunk(db: Db<BatchesTables>, { batchId, n }: ChunkName): Promise<ClaimedChunk | null> {
  const [row] = await db.run(claim, [batchId, n])
  return row ?? null
}

const touch = statement<[string, number, number], { status: BatchStatus }>(
  'batches.touch-chunk',
  `update batches.chunk c set moved_at = clock_timestamp() from batches.batch b
   where b.id = c.batch_id and c.batch_id = $1 and c.n = $2 and c.attempt = $3 and c.status = 'submitted'
   returning b.status`,
)

/** Shows that an attempt is alive, and tells how its batch stands. Null: the chunk is not ours any more. */
export async function touchChunk(
  db: Db<BatchesTables>,
  { batchId, n }: ChunkName,
  attempt: number,
): Promise<BatchStatus | null> {
  const [row] = await db.run(touch, [batchId, n, attempt])
  return row?.status ?? null
}

const hold = statement<[string, number, number], { n: number }>(
  'batches.hold-chunk',
  `select n from batches.chunk where batch_id = $1 and n = $2 and attempt = $3 and status = 'submitted' for share`,
)

/** Keeps everybody else from taking the chunk until the transaction ends. The rows returned are for `fenced`. */
export async function holdChunk(tx: Tx, { batchId, n }: ChunkName, attempt: number): Promise<readonly unknown[]> {
  return await tx.run(hold, [batchId, n, attempt])
}

/** A chunk is done: its sums are written. The rows returned are for `fenced`. */
export async function closeChunk(tx: Tx, { batchId, n }: ChunkName, attempt: number): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update batches.chunk set status = 'done',
      totals = (${totalsOfLines(sql`batch_id = ${batchId} and n between first_line and last_line`)})
    where batch_id = ${batchId} and n = ${n} and attempt = ${attempt} and status = 'submitted' returning n`.execute(
    own<BatchesTables>(tx),
  )
  return rows
}

/** A chunk is to be taken up again later. The rows returned are for `fenced`. */
export async function postponeChunk(
  tx: Tx,
  { batchId, n }: ChunkName,
  attempt: number | null,
  waitMs: number,
): Promise<{ generation: number; at: Date }[]> {
  const mine = attempt === null ? sql`true` : sql`attempt = ${attempt}`
  const { rows } = await sql<{ generation: number; at: Date }>`
    update batches.chunk set generation = generation + 1, stalls = 0,
      moved_at = clock_timestamp() + ${waitMs} * interval '1 millisecond'
    where batch_id = ${batchId} and n = ${n} and status = 'submitted' and ${mine}
    returning generation, moved_at as at`.execute(own<BatchesTables>(tx))
  return rows
}

/** How many chunks of a batch that `lockBatch` holds have not ended. */
export async function countOpenChunks(tx: Tx, batchId: string): Promise<{ waiting: number; submitted: number }> {
  const { rows } = await sql<{ waiting: number; submitted: number }>`
    select count(*) filter (where status = 'waiting')::int as waiting,
      count(*) filter (where status = 'submitted')::int as submitted
    from batches.chunk where batch_id = ${batchId} and status <> 'done'`.execute(own<BatchesTables>(tx))
  return rows[0] ?? { waiting: 0, submitted: 0 }
}

/** How many chunks of a project are submitted. */
export async function countSubmitted(tx: Tx, projectId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from batches.chunk where project_id = ${projectId} and status = 'submitted'`.execute(
    own<BatchesTables>(tx),
  )
  return rows[0]?.count ?? 0
}

/** Starts the next chunk of a project: of the batch with the fewest under way, the oldest first. */
export async function startNextChunk(tx: Tx, projectId: string): Promise<SubmittedChunk | null> {
  const { rows } = await sql<{ batch_id: string; n: number; generation: number }>`
    with open as (
      select batch_id, min(n) filter (where status = 'waiting') as next,
        count(*) filter (where status = 'submitted') as under_way
      from batches.chunk where project_id = ${projectId} and status <> 'done' group by batch_id
    ), chosen as (
      -- One that somebody else is starting or ending is left to them.
      select c.batch_id, c.n from open join batches.chunk c on c.batch_id = open.batch_id and c.n = open.next
      where c.status = 'waiting' order by open.under_way, c.batch_id limit 1 for update of c skip locked
    )
    update batches.chunk c set status = 'submitted', moved_at = clock_timestamp() from chosen
    where c.batch_id = chosen.batch_id and c.n = chosen.n
    returning c.batch_id, c.n, c.generation`.execute(own<BatchesTables>(tx))
  const [row] = rows
  return row === undefined ? null : { batchId: row.batch_id, n: row.n, generation: row.generation }
}

/** Projects with chunks that wait, whoever forgot to start them. */
export async function listWaitingProjects(db: Db<BatchesTables>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from batches.chunk where status = 'waiting'
    group by project_id order by min(batch_id) limit ${limit}`.execute(db.kysely)
  return rows.map(({ project_id: projectId }) => projectId)
}

export async function stalledChunks(tx: Tx, limit: number, stalledMs: number): Promise<SubmittedChunk[]> {
  const { rows } = await sql<{ batch_id: string; n: number; generation: number }>`
    update batches.chunk set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
    where (batch_id, n) in (
      select batch_id, n from batches.chunk
      where status = 'submitted'
        and moved_at < clock_timestamp() - 2 ^ least(stalls, 6) * ${stalledMs} * interval '1 millisecond'
      order by moved_at limit ${limit} for update skip locked)
    returning batch_id, n, generation`.execute(own<BatchesTables>(tx))
  return rows.map(({ batch_id: batchId, n, generation }) => ({ batchId, n, generation }))
}

import type { BatchEndpoint, BatchStatus } from '@switchyard/contracts/batches.ts'
import type { FileId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Chunks, type ChunkName } from '#platform/durable/chunks.ts'
import { totalsOfLines } from './results.ts'
import type { BatchesTables } from './tables.ts'

export const chunks = new Chunks({ table: 'batches.chunk', owner: 'batch_id' })

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
export async function claimChunk(
  db: Db<BatchesTables>,
  { ownerId: batchId, n }: ChunkName,
): Promise<ClaimedChunk | null> {
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
  { ownerId: batchId, n }: ChunkName,
  attempt: number,
): Promise<BatchStatus | null> {
  const [row] = await db.run(touch, [batchId, n, attempt])
  return row?.status ?? null
}

/** A chunk is done: its sums are written. The rows returned are for `fenced`. */
export async function closeChunk(
  tx: Tx,
  { ownerId: batchId, n }: ChunkName,
  attempt: number,
): Promise<readonly unknown[]> {
  const { rows } = await sql`
    update batches.chunk set status = 'done',
      totals = (${totalsOfLines(sql`batch_id = ${batchId} and n between first_line and last_line`)})
    where batch_id = ${batchId} and n = ${n} and attempt = ${attempt} and status = 'submitted' returning n`.execute(
    own<BatchesTables>(tx),
  )
  return rows
}

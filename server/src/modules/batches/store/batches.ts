import type { BatchEndpoint, BatchError, BatchStatus } from '@switchyard/contracts/batches.ts'
import type { BatchId, FileId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Totals } from '../domain/batch-view.ts'
import type { BatchesTables, BatchOutcome } from './tables.ts'

export interface BatchRow {
  id: string
  org_id: string
  project_id: string
  key_id: string
  endpoint: string
  input_file_id: string
  metadata: Record<string, string> | null
  output_expires_seconds: number | null
  status: BatchStatus
  outcome: BatchOutcome | null
  created_at: Date
  expires_at: Date
  in_progress_at: Date | null
  finalizing_at: Date | null
  cancelling_at: Date | null
  ended_at: Date | null
  model: string | null
  lines_total: number
  errors: readonly BatchError[] | null
  totals: Totals | null
  output_file_id: string | null
  error_file_id: string | null
  finishing: boolean
}

const columnNames = [
  'id',
  'org_id',
  'project_id',
  'key_id',
  'endpoint',
  'input_file_id',
  'metadata',
  'output_expires_seconds',
  'status',
  'outcome',
  'created_at',
  'expires_at',
  'in_progress_at',
  'finalizing_at',
  'cancelling_at',
  'ended_at',
  'model',
  'lines_total',
  'errors',
  'totals',
  'output_file_id',
  'error_file_id',
  'finishing',
] as const satisfies readonly (keyof BatchRow)[]
export const batchColumns = columnNames.join(', ')

export interface NewBatch {
  readonly id: BatchId
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly keyId: KeyId
  readonly endpoint: BatchEndpoint
  readonly inputFileId: FileId
  readonly metadata: Record<string, string> | null
  readonly outputExpiresSeconds: number | null
  readonly windowSeconds: number
}

export async function insertBatch(tx: Tx, batch: NewBatch): Promise<BatchRow> {
  return await own<BatchesTables>(tx)
    .insertInto('batches.batch')
    .values({
      id: batch.id,
      org_id: batch.orgId,
      project_id: batch.projectId,
      key_id: batch.keyId,
      endpoint: batch.endpoint,
      input_file_id: batch.inputFileId,
      metadata: batch.metadata === null ? null : JSON.stringify(batch.metadata),
      output_expires_seconds: batch.outputExpiresSeconds,
      created_at: sql<Date>`statement_timestamp()`,
      expires_at: sql<Date>`statement_timestamp() + ${batch.windowSeconds} * interval '1 second'`,
    })
    .returning(columnNames)
    .executeTakeFirstOrThrow()
}

const find = statement<[string, string], BatchRow>(
  'batches.find',
  `select ${batchColumns} from batches.batch where id = $1 and project_id = $2`,
)

export async function findBatch(db: Db<BatchesTables>, projectId: ProjectId, id: BatchId): Promise<BatchRow | null> {
  const [row] = await db.run(find, [id, projectId])
  return row ?? null
}

const list = statement<[string, number, string | null], BatchRow>(
  'batches.list',
  `select ${batchColumns} from batches.batch where project_id = $1 and ($3::text is null or id < $3)
   order by id desc limit $2`,
)

/** Newest first. One row more than asked for says that there is another page. */
export async function listBatches(
  db: Db<BatchesTables>,
  projectId: ProjectId,
  page: { after: string | undefined; limit: number },
): Promise<BatchRow[]> {
  return await db.run(list, [projectId, page.limit + 1, page.after ?? null])
}

/** Holds a batch for one decision about it. Always taken before its chunks are. Null when the project has none. */
export async function lockBatch(tx: Tx, id: string, projectId?: string): Promise<BatchRow | null> {
  const mine = projectId === undefined ? sql`true` : sql`project_id = ${projectId}`
  const { rows } = await sql<BatchRow>`
    select ${sql.raw(batchColumns)} from batches.batch where id = ${id} and ${mine} for update`.execute(
    own<BatchesTables>(tx),
  )
  return rows[0] ?? null
}

import type { BatchError, BatchStatus } from '@switchyard/contracts/batches.ts'
import type { ColumnType, Generated } from 'kysely'
import type { Totals } from '../domain/batch-view.ts'

type Timestamp = ColumnType<Date, Date | string, Date | string>
/** Set by the database unless given. */
type DefaultTimestamp = ColumnType<Date, Date | undefined, Date>
type Json<Value> = ColumnType<Value | null, string | null, string | null>

export type BatchOutcome = 'completed' | 'failed' | 'expired' | 'cancelled'

export interface BatchesTables {
  'batches.batch': {
    id: string
    org_id: string
    project_id: string
    key_id: string
    endpoint: string
    input_file_id: string
    metadata: Json<Record<string, string>>
    output_expires_seconds: number | null
    status: Generated<BatchStatus>
    outcome: BatchOutcome | null
    created_at: DefaultTimestamp
    expires_at: Timestamp
    in_progress_at: Timestamp | null
    finalizing_at: Timestamp | null
    cancelling_at: Timestamp | null
    ended_at: Timestamp | null
    model: string | null
    limit_group: string | null
    queued_tokens: Generated<number>
    lines_total: Generated<number>
    errors: Json<readonly BatchError[]>
    totals: Json<Totals>
    output_file_id: string | null
    error_file_id: string | null
    finishing: Generated<boolean>
    attempt: Generated<number>
    generation: Generated<number>
    stalls: Generated<number>
    moved_at: DefaultTimestamp
    cleared_at: Timestamp | null
  }
  'batches.line': { batch_id: string; n: number; custom_id: string; byte_offset: number; bytes: number }
  'batches.chunk': {
    batch_id: string
    n: number
    project_id: string
    first_line: number
    last_line: number
    status: Generated<'waiting' | 'submitted' | 'done'>
    attempt: Generated<number>
    generation: Generated<number>
    stalls: Generated<number>
    moved_at: DefaultTimestamp
    totals: Json<Totals>
  }
  'batches.result': {
    batch_id: string
    n: number
    id: string
    ok: boolean
    status_code: number
    request_id: string
    body: string
    body_bytes: number
    input_tokens: Generated<number>
    cached_tokens: Generated<number>
    output_tokens: Generated<number>
    reasoning_tokens: Generated<number>
  }
}

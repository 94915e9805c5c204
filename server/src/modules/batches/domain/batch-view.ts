import type { Batch, BatchError, BatchUsage } from '@switchyard/contracts/batches.ts'
import type { BatchRow } from '../store/batches.ts'

/** Sums over results. */
export interface Totals {
  readonly completed: number
  readonly failed: number
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export const noTotals: Totals = { completed: 0, failed: 0, input: 0, cached: 0, output: 0, reasoning: 0 }

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)
const endedAt = {
  completed: 'completed_at',
  failed: 'failed_at',
  expired: 'expired_at',
  cancelled: 'cancelled_at',
} as const satisfies Partial<Record<Batch['status'], keyof Batch>>

function usageOf({ input, cached, output, reasoning }: Totals): BatchUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}

/** A batch as it is now. Of one that has ended, the row itself knows the sums. */
export function batchView(row: BatchRow, soFar: Totals = noTotals): Batch {
  const totals = row.totals ?? soFar
  const at = (name: keyof Batch, time: Date | null) => (time === null ? {} : { [name]: seconds(time) })
  const ending = row.status in endedAt ? endedAt[row.status as keyof typeof endedAt] : null
  return {
    id: row.id as Batch['id'],
    object: 'batch',
    endpoint: row.endpoint,
    input_file_id: row.input_file_id as Batch['input_file_id'],
    completion_window: '24h',
    status: row.status,
    created_at: seconds(row.created_at),
    expires_at: seconds(row.expires_at),
    ...at('in_progress_at', row.in_progress_at),
    ...at('finalizing_at', row.finalizing_at),
    ...at('cancelling_at', row.cancelling_at),
    ...(ending === null ? {} : at(ending, row.ended_at)),
    ...(row.output_file_id === null ? {} : { output_file_id: row.output_file_id as Batch['input_file_id'] }),
    ...(row.error_file_id === null ? {} : { error_file_id: row.error_file_id as Batch['input_file_id'] }),
    ...(row.errors === null ? {} : { errors: { object: 'list' as const, data: row.errors as BatchError[] } }),
    request_counts: { total: row.lines_total, completed: totals.completed, failed: totals.failed },
    ...(row.in_progress_at === null ? {} : { usage: usageOf(totals) }),
    ...(row.model === null ? {} : { model: row.model }),
    metadata: row.metadata,
  }
}

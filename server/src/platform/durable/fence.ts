import { LeaseLost } from '../db/hold-lease.ts'
import { Superseded } from './step-over.ts'

/**
 * Attempts are fenced by a number in the row itself. A step claims it first and commits that at once:
 *
 *   update evals.chunk set attempt = attempt + 1, moved_at = clock_timestamp()
 *   where id = $1 and status in ('queued', 'in_progress') returning attempt
 *
 * and then says `where id = $1 and attempt = $mine` in the first statement of every transaction that writes. That
 * statement locks the row, so nobody can claim it between there and the commit. Pass what it returned through here:
 * no row touched means that another attempt claimed the work since, and the step ends quietly.
 */
export function fenced(written: { numUpdatedRows?: bigint; numDeletedRows?: bigint } | readonly unknown[]): void {
  const touched =
    'length' in written ? BigInt(written.length) : (written.numUpdatedRows ?? written.numDeletedRows ?? 0n)
  if (touched === 0n) throw new Superseded('another attempt has taken this work over')
}

/** Work whose lease was lost ends quietly: another attempt has it. */
export async function orSuperseded<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (signal.aborted && signal.reason instanceof LeaseLost) throw new Superseded('lease lost')
    throw error
  }
}

import { setTimeout as after } from 'node:timers/promises'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { Api } from './api.ts'
import { Pace, type Progress } from './progress.ts'
import type { StartedRun } from './start-run.ts'

const pollMinMs = 200
const pollMaxMs = 2_000
const pollGrowth = 1.3
/** Longer than any run is patient for. */
const followMaxMs = 14 * 24 * 60 * 60_000

const hasEnded = ({ status }: EvalRun) => status === 'completed' || status === 'failed' || status === 'canceled'

/** Asks how far the run is until it has ended. Whoever stops waiting cancels the run. */
export async function followRun(
  api: Api,
  { run: started, rowsTotal }: StartedRun,
  show: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<EvalRun> {
  const path = `/evals/${started.eval_id}/runs/${started.id}`
  const begun = performance.now()
  const pace = new Pace()
  let run = started
  let waitMs = pollMinMs
  while (!hasEnded(run) && performance.now() - begun < followMaxMs) {
    const elapsedMs = performance.now() - begun
    pace.add(elapsedMs, run.result_counts.total)
    const { status, result_counts: counts } = run
    show({ status, counts, rowsTotal, rowsPerSecond: pace.rowsPerSecond(), elapsedMs, trouble: null })
    try {
      await after(waitMs, undefined, { signal })
      run = await api.call<EvalRun>({ method: 'GET', path, signal })
    } catch (error) {
      if (!signal.aborted) throw error
      return await api.call<EvalRun>({ method: 'POST', path: `${path}/cancel` })
    }
    waitMs = Math.min(pollMaxMs, waitMs * pollGrowth)
  }
  return run
}

import type { RunRetrieveResponse } from 'openai/resources/evals/runs/runs'
import type { Checks } from '../load/checks.ts'
import type { Fleet } from '../responses/fleet.ts'
import type { Interrupted } from './interrupt-rows.ts'
import type { Calls } from './provider.ts'
import { usageOf, wrongIn } from './row-calls.ts'

/** Every row has one result, and the run says what they say. */
export async function auditResults(fleet: Fleet, checks: Checks, run: RunRetrieveResponse, rows: number) {
  const wrong = wrongIn(0, rows)
  const { total, errored, failed, passed } = run.result_counts
  checks.expect(
    'the run is completed and counts every row',
    run.status === 'completed' && total === rows && errored === 0 && failed === wrong && passed === rows - wrong,
    `${run.status}, ${JSON.stringify(run.result_counts)}${run.error === null ? '' : ` ${JSON.stringify(run.error)}`}`,
  )
  const { rows: found } = await fleet.db.query<{ results: number; rows: number; first: number; last: number }>(
    `select count(*)::int as results, count(distinct n)::int as rows, min(n) as first, max(n) as last
     from evals.result where run_id = $1`,
    [run.id],
  )
  const [seen] = found
  checks.expect(
    'every row is graded once',
    seen?.results === rows && seen.rows === rows && seen.first === 0 && seen.last === rows - 1,
    JSON.stringify(seen),
  )
}

/** What the run says it used is what its results used, what the provider said, and what the ledger has. */
export async function auditUsage(
  fleet: Fleet,
  checks: Checks,
  run: RunRetrieveResponse,
  { rows, repeated }: { rows: number; repeated: number },
) {
  const expected = usageOf(0, rows)
  const [used] = run.per_model_usage ?? []
  const told = {
    calls: used?.invocation_count ?? 0,
    prompt: used?.prompt_tokens ?? 0,
    completion: used?.completion_tokens ?? 0,
  }
  const { rows: sums } = await fleet.db.query<typeof expected>(
    `select sum((u ->> 1)::int)::int as calls, sum((u ->> 2)::bigint)::float8 as prompt,
       sum((u ->> 3)::bigint)::float8 as completion
     from evals.result r, json_array_elements(r.usage) as u where r.run_id = $1`,
    [run.id],
  )
  const { rows: ledger } = await fleet.db.query<typeof expected & { again: number; cut: number }>(
    `select count(*)::int as calls, sum(input_tokens)::float8 as prompt, sum(output_tokens)::float8 as completion,
       sum(times - 1)::int as again, (select count(*)::int from limits.usage where outcome = 'interrupted') as cut
     from (select input_tokens, output_tokens, count(*) as times from limits.usage
       where outcome = 'completed' group by input_tokens, output_tokens) as calls`,
  )
  const same = (one: typeof expected | undefined) =>
    one?.calls === expected.calls && one.prompt === expected.prompt && one.completion === expected.completion
  checks.expect(
    'usage by model is the sum over the results, and what the provider counted',
    run.per_model_usage?.length === 1 && same(told) && same(sums[0]),
    JSON.stringify(told),
  )
  const [entered] = ledger
  checks.expect(
    'the ledger has every call of every result, and no more than the calls that were repeated beside them',
    same(entered) && (entered?.again ?? Infinity) <= repeated,
    `${entered?.calls} calls, ${entered?.prompt} and ${entered?.completion} tokens; ${entered?.again} repeated and ${entered?.cut} cut calls entered as well`,
  )
}

/** Calls above two, each told with the first kill that its row was in hand at. */
function repeatedBy(kills: Interrupted['kills'], callsOf: (row: number) => number): string {
  const told = new Set<number>()
  const parts = kills.map(({ victim, inHand }) => {
    const rows = inHand.filter((row) => callsOf(row) > 2 && !told.has(row))
    for (const row of rows) told.add(row)
    return `${victim} ${rows.reduce((sum, row) => sum + callsOf(row) - 2, 0)}`
  })
  return parts.join(', ')
}

/** A call is made again only when a kill may have taken the first. Returns how many were. */
export function auditCalls(
  checks: Checks,
  { sample, grade }: Calls,
  { kills, byRow }: Interrupted,
  strays: number,
): number {
  const rows = byRow.length
  const callsOf = (row: number) => (sample[row] ?? 0) + (grade[row] ?? 0)
  const numbers = Array.from({ length: rows }, (_none, row) => row)
  const total = numbers.reduce((sum, row) => sum + callsOf(row), 0)
  const unexplained = numbers.filter((row) => callsOf(row) > 2 + (byRow[row] ?? 0))
  const unasked = numbers.filter((row) => (sample[row] ?? 0) === 0 || (grade[row] ?? 0) === 0)
  const interrupted = kills.reduce((sum, { callsInterrupted }) => sum + callsInterrupted, 0)
  checks.expect(
    'every kill fell into the work',
    kills.every(({ at, victim, inHand }) => at < rows && (victim === 'api' || inHand.length > 0)),
    kills.map(({ victim, at, inHand }) => `${victim} at ${at} with ${inHand.length} in hand`).join(', '),
  )
  checks.expect('the provider was asked for every row', unasked.length === 0 && strays === 0, `${total} calls`)
  checks.expect(
    'and asked again only for calls of rows that were in hand at a kill',
    total <= 2 * rows + interrupted && unexplained.length === 0,
    `${total - 2 * rows} calls above ${2 * rows} (${repeatedBy(kills, callsOf)}), ${interrupted} interrupted${unexplained.length === 0 ? '' : `; rows ${unexplained.slice(0, 10).join()}`}`,
  )
  return total - 2 * rows
}

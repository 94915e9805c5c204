import type { Checks } from '../load/checks.ts'
import type { Traced } from './attribute.ts'
import type { Call } from './counting-provider.ts'
import type { Kill } from './kill-processes.ts'
import type { UsageRow } from './recorded.ts'

const shownMax = 5
const sum = <Value>(values: readonly Value[], of: (value: Value) => number) =>
  values.reduce((all, value) => all + of(value), 0)

/** The first few of what is wrong. */
const shown = (wrong: readonly string[]) =>
  wrong.length === 0 ? '' : `; wrong: ${wrong.slice(0, shownMax).join('; ')}`

const told = ({ outcome, requestId }: Traced) =>
  `request ${outcome.number} (${outcome.kind}, ${outcome.end}, ${requestId})`

const rowOf = ({ rows }: Traced, call: Call) =>
  rows.filter(({ outcome, input }) => outcome === 'completed' && input === call.input)

/** Turns that came to their end: one row each, with what the provider counted. */
export function checkWholeTurns(checks: Checks, requests: readonly Traced[]): void {
  const wrong: string[] = []
  let turns = 0
  for (const one of requests) {
    const completed = one.rows.filter(({ outcome }) => outcome === 'completed')
    turns += completed.length
    for (const row of completed) {
      const call = one.calls.find(({ input }) => input === row.input)
      if (call?.output !== row.output) wrong.push(`${told(one)}: the ledger has ${row.input} + ${row.output} tokens`)
    }
    const turnsSeen = new Set(completed.map(({ turn }) => turn))
    if (turnsSeen.size !== completed.length) wrong.push(`${told(one)}: a turn is there twice`)
    if (one.outcome.end === 'answered' && one.outcome.kind !== 'background' && completed.length !== 1)
      wrong.push(`${told(one)}: ${completed.length} rows`)
  }
  const counted = requests.flatMap((one) => one.calls.filter((call) => rowOf(one, call).length > 0))
  const tokens = sum(counted, ({ input, output }) => input + output)
  checks.expect(
    'every turn that was not cut is in the ledger once, with what the provider counted, to the token',
    wrong.length === 0,
    `${turns} turns, ${tokens} tokens${shown(wrong)}`,
  )
}

/** A call that nobody committed was cut: its client left or lost its node, or a later attempt made it again. */
function isExcused({ outcome, calls }: Traced, call: Call): boolean {
  if (outcome.end === 'cut' || outcome.end === 'left') return true
  return outcome.kind === 'background' && calls.some(({ after, input }) => after === call.after && input > call.input)
}

/** Turns that a kill or a leaving client cut: recorded as interrupted, with what is known. */
export function checkCutTurns(checks: Checks, requests: readonly Traced[]): void {
  const wrong: string[] = []
  const cut: Call[] = []
  const rows: UsageRow[] = []
  for (const one of requests) {
    const lost = one.calls.filter((call) => rowOf(one, call).length === 0)
    const interrupted = one.rows.filter(({ outcome }) => outcome === 'interrupted')
    cut.push(...lost)
    rows.push(...interrupted)
    if (!lost.every((call) => isExcused(one, call))) wrong.push(`${told(one)}: a call is not in the ledger`)
    if (interrupted.length < lost.length) wrong.push(`${told(one)}: ${lost.length} cut, ${interrupted.length} recorded`)
  }
  const counted = { input: sum(cut, ({ input }) => input), output: sum(cut, ({ output }) => output) }
  const known = { input: sum(rows, ({ input }) => input), output: sum(rows, ({ output }) => output) }
  checks.expect(
    'every turn that was cut is in the ledger as interrupted',
    wrong.length === 0,
    `${cut.length}${shown(wrong)}`,
  )
  console.log(
    `  cut: ${cut.length} calls, of which the provider would have counted ${counted.input} + ${counted.output} tokens;`,
  )
  console.log(
    `  the ledger has ${rows.length} interrupted rows with ${known.input} + ${known.output} tokens, as far as was known`,
  )
}

const lateMsMax = 30_000
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/**
 * From the end of a turn, or from what cut it off, to the settlement of its reservation. A kill in between may have hit
 * whoever was about to settle it: from there it counts anew.
 */
export function checkLateness(checks: Checks, requests: readonly Traced[], kills: readonly Kill[]): void {
  let longest = { ms: 0, what: 'none' }
  let longestInAll = 0
  let swept = 0
  let settlements = 0
  const twice: string[] = []
  for (const one of requests) {
    const settled = one.decisions.filter(({ reservation }) => reservation !== null)
    settlements += settled.length
    const ids = settled.flatMap(({ kind, reservation }) => (kind === 'settled' ? [reservation] : []))
    if (new Set(ids).size !== ids.length) twice.push(told(one))
    for (const { reservation, at, bySweep } of settled) {
      const turn = Number(reservation?.split('/')[1] ?? 0)
      const whole = one.rows.find((row) => row.turn === turn && row.outcome === 'completed')
      const endedAt = whole?.at ?? one.outcome.endedAt
      const ms = at - Math.max(endedAt, ...kills.flatMap((kill) => (kill.at <= at ? [kill.at] : [])))
      longestInAll = Math.max(longestInAll, at - endedAt)
      if (bySweep) swept += 1
      if (ms > longest.ms) longest = { ms, what: told(one) }
    }
  }
  checks.expect('no reservation is settled twice', twice.length === 0, `${settlements} settlements${shown(twice)}`)
  checks.expect(
    `every reservation is settled or released within ${lateMsMax / 1_000} s of its end, or of the last kill after it`,
    longest.ms <= lateMsMax,
    `${seconds(longest.ms)} at most, ${longest.what}; from the end alone ${seconds(longestInAll)}; ${swept} by the sweep`,
  )
}

/** A process writes its decisions twice a second: those of its last moments die with it. */
const unwrittenMs = 1_000

export function checkDecisions(checks: Checks, requests: readonly Traced[], kills: readonly Kill[]): void {
  const silent = requests.filter(({ decisions, rows }) => rows.length > 0 && decisions.length === 0)
  const unexplained = silent.filter(
    ({ outcome: { endedAt } }) => !kills.some(({ at }) => endedAt <= at + unwrittenMs && endedAt >= at - unwrittenMs),
  )
  const answered = requests.filter(({ outcome, rows }) => outcome.end === 'answered' && rows.length === 0)
  checks.expect(
    'there is a decision for every request, but for the last moments of a killed process',
    unexplained.length + answered.length === 0,
    `${requests.length} requests, ${silent.length} without one${shown([...unexplained, ...answered].map(told))}`,
  )
  const postponed = sum(requests, ({ outcome }) => outcome.postponed)
  console.log(`  ${postponed} times a request was told to come back in a moment: Valkey had not answered in time`)
}

/**
 * The ledger under kill -9: requests of every kind (whole, streamed, stored and not, over a socket, in the background with
 * several turns, chat and text completions) for an organisation with limits, while api processes and workers are killed
 * and started again. Afterwards no reservation is left; what was spent is what the ledger says; and the ledger says what
 * the provider counted for every turn that was not cut.
 *
 *   node e2e/limits/ledger.chaos.ts --requests 1000 --kills 4 [--settle-tokens]
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { seededRandom } from '../chaos/seeded-random.ts'
import { Checks } from '../load/checks.ts'
import { Fleet } from '../responses/fleet.ts'
import { attribute } from './attribute.ts'
import { checkCutTurns, checkDecisions, checkLateness, checkWholeTurns } from './audit-ledger.ts'
import { countCalls } from './counting-provider.ts'
import { killProcesses, type Kill } from './kill-processes.ts'
import type { Outcome } from './mixed-requests.ts'
import { Recorded, type UsageRow } from './recorded.ts'
import { RequestLoad } from './request-load.ts'

interface Sizes {
  readonly requests: number
  readonly kills: number
  readonly seed: number
}

const nodes = { api: 3, worker: 2 }
const tier = 'tier_5'
const endBoundMs = 180_000
/** From the last end or kill on. */
const settledWithinMs = 30_000
const settledBoundMs = 60_000
/** Decisions are written twice a second. */
const writtenWithinMs = 2_000
const daySeconds = 86_400
const program = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

/** As an operator would. */
async function setTier(fleet: Fleet): Promise<void> {
  const { env, seeded } = fleet.stack
  const args = [program, 'orgs', 'tier', `--org=${seeded.orgId}`, `--tier=${tier}`]
  await promisify(execFile)(process.execPath, args, { env })
}

async function proveLedger(fleet: Fleet, checks: Checks, sizes: Sizes): Promise<void> {
  const recorded = new Recorded(fleet)
  try {
    const calls = countCalls(fleet.double)
    const load = new RequestLoad(fleet, nodes.api, sizes.requests)
    const kills = await killProcesses(fleet, load, { ...nodes, kills: sizes.kills }, seededRandom(sizes.seed))
    const outcomes = await load.done()
    await tellEnds(checks, recorded, outcomes)
    await checkNothingOpen(checks, recorded, outcomes, kills)
    await becomesTrue(async () => await hasSettled(recorded), writtenWithinMs)
    const [rows, decisions] = [await recorded.usage(), await recorded.decisions()]
    const { requests, strays } = attribute(outcomes, calls, rows, decisions)
    checks.expect(
      'every row and every decision belongs to a request that was made',
      strays.length === 0,
      `${strays.length}`,
    )
    checkLateness(checks, requests, kills)
    checkWholeTurns(checks, requests)
    checkCutTurns(checks, requests)
    checkDecisions(checks, requests, kills)
    await checkSums(fleet, checks, recorded, rows)
  } finally {
    recorded.close()
  }
}

/** What the settlements of the last moment have to say is written down. */
async function hasSettled(recorded: Recorded): Promise<boolean> {
  const decisions = await recorded.decisions()
  const settled = new Set(decisions.flatMap(({ reservation }) => (reservation === null ? [] : [reservation])))
  return decisions.every(({ kind, requestId }) => kind !== 'admitted' || settled.has(requestId))
}

async function tellEnds(checks: Checks, recorded: Recorded, outcomes: readonly Outcome[]): Promise<void> {
  const over = await becomesTrue(async () => (await recorded.running()) === 0, endBoundMs)
  checks.expect('every response comes to an end', over, `${await recorded.running()} left`)
  const ends = Map.groupBy(outcomes, ({ end }) => end)
  console.log(`  ${[...ends].map(([end, all]) => `${all.length} ${end}`).join(', ')}`)
  const refused = ends.get('refused') ?? []
  checks.expect('no request fails but by a kill', refused.length === 0, refused[0]?.detail ?? '')
  const accepted = outcomes.flatMap(({ responseId }) => (responseId === null ? [] : [responseId]))
  const unfinished = await recorded.unfinished(accepted)
  checks.expect(
    'every background response that was accepted is completed',
    unfinished.length === 0,
    [`${accepted.length} accepted`, ...unfinished].slice(0, 5).join(', '),
  )
}

async function checkNothingOpen(
  checks: Checks,
  recorded: Recorded,
  outcomes: readonly Outcome[],
  kills: readonly Kill[],
): Promise<void> {
  const none = await becomesTrue(async () => (await recorded.open()).length === 0, settledBoundMs)
  const lastEnd = Math.max(
    await recorded.lastEndAt(),
    ...outcomes.map(({ endedAt }) => endedAt),
    ...kills.map(({ at }) => at),
  )
  const tookMs = Date.now() - lastEnd
  const left = await recorded.open()
  checks.expect(
    `no reservation is left ${settledWithinMs / 1_000} s after the last end`,
    none && tookMs <= settledWithinMs,
    `${left.length} left after ${(tookMs / 1_000).toFixed(1)} s ${left.slice(0, 5).join(' ')}`,
  )
}

async function checkSums(fleet: Fleet, checks: Checks, recorded: Recorded, rows: readonly UsageRow[]): Promise<void> {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((all, row) => all + of(row), 0)
  const nanos = sum((row) => row.nanos)
  const level = await recorded.spendLevel()
  checks.expect(
    'what the limiter counts as spent this month is what the ledger says, to the billionth of a dollar',
    level === nanos,
    `${nanos} in the ledger, ${level - nanos} apart`,
  )
  const start = Math.floor(Date.now() / 1_000) - daySeconds
  const page = await fleet.client().admin.organization.usage.completions({ start_time: start })
  const results = page.data.flatMap((bucket) => bucket.results as unknown as Record<string, number>[])
  const shown = (field: string) => results.reduce((all, one) => all + (one[field] ?? 0), 0)
  const [input, output, count] = [shown('input_tokens'), shown('output_tokens'), shown('num_model_requests')]
  checks.expect(
    'GET /v1/organization/usage/completions says the same',
    input === sum((row) => row.input) && output === sum((row) => row.output) && count === rows.length,
    `${count} model calls, ${input} + ${output} tokens`,
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '1000' },
      kills: { type: 'string', default: '4' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      'settle-tokens': { type: 'boolean', default: false },
    },
  })
  const checks = new Checks()
  const sizes = { requests: Number(values.requests), kills: Number(values.kills), seed: Number(values.seed) }
  const settles = String(values['settle-tokens'])
  console.log(
    `seed ${sizes.seed}, ${sizes.requests} requests, ${sizes.kills} rounds of kills, tokens settled: ${settles}`,
  )
  const settings = { SWITCHYARD_LIMITS_SETTLE_TOKENS: settles }
  const fleet = await Fleet.start({ ...nodes, apart: true, settings })
  try {
    await setTier(fleet)
    await proveLedger(fleet, checks, sizes)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()

/**
 * Exactness under concurrency: so many clients at once, of all kinds, on several api nodes, over a limit of requests and
 * of tokens a minute. Every decision is in the log with Valkey's own time of it; carried out again one after the other by
 * plain arithmetic, it must come out the same, and no stretch of time may have admitted more than its due.
 * S3-2.5-g, S3-7.2-c
 *
 *   node e2e/limits/exact.load.ts --nodes 4 --clients 1000 --seeds 20
 */
import { parseArgs } from 'node:util'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { seededRandom } from '../chaos/seeded-random.ts'
import { Checks } from '../load/checks.ts'
import { printTable } from '../load/print-table.ts'
import { sendCrowd, type Seen } from './crowd.ts'
import { isOfMinute, LimitedFleet, periodOf, type LimitNumbers } from './limited-fleet.ts'
import type { LimitedOrganization } from './limited-organization.ts'
import { readDecisions, replay, type Decided, type Replayed } from './replay-decisions.ts'

interface Sizes extends LimitNumbers {
  readonly nodes: number
  readonly clients: number
  readonly seeds: number
  readonly firstSeed: number
  readonly seconds: number
}

/** From the last answer on: what a client left behind is over by then, and so is what runs in the background. */
const settledBoundMs = 60_000
/** Sums of fractions are not exact. */
const tolerance = 1e-4
const serialShareMin = 0.99
/** The most that a request asks for, as a multiple of its even share of the tokens: requests bind in one round, tokens in the next. */
const largestShares = [3, 5] as const
const answerWordsMax = 20
const answerSlowMsMax = 4

/** What is used is now more and now less than what was charged. */
function answerSlowly({ double }: LimitedFleet['fleet'], seed: number, tokensMax: number): void {
  const random = seededRandom(seed)
  double.decide(() => ({
    usage: { input: 1 + Math.floor(random() * answerWordsMax), output: Math.floor(random() * tokensMax) },
    text: 'said '.repeat(1 + Math.floor(random() * answerWordsMax)),
    slowMs: Math.floor(random() * answerSlowMsMax),
  }))
}

interface Round {
  readonly seed: number
  readonly settlesTokens: boolean
  readonly organization: LimitedOrganization
  readonly seen: readonly Seen[]
  readonly log: readonly Decided[]
  readonly replayed: Replayed
  readonly open: number
  readonly tookMs: number
}

async function playRound(limited: LimitedFleet, sizes: Sizes, seed: number, settlesTokens: boolean): Promise<Round> {
  const { fleet } = limited
  const organization = await limited.newOrganization()
  const { clients, seconds, nodes, requestsPerMinute, tokensPerMinute } = sizes
  const largestShare = largestShares[(seed + Number(settlesTokens)) % 2] ?? 1
  const tokensMax = Math.ceil((largestShare * tokensPerMinute) / requestsPerMinute)
  answerSlowly(fleet, seed, tokensMax)
  const began = performance.now()
  const seen = await sendCrowd({
    ports: Array.from({ length: nodes }, (_none, index) => fleet.portOf(index)),
    key: organization.key,
    clients,
    seconds,
    seed,
    tokensMax,
    tokensPerMinute,
  })
  // All is settled, and the log has it: it is written a moment later.
  const isOver = async () => {
    if ((await limited.open(organization.orgId)).length > 0) return false
    const log = await readDecisions(fleet.db, organization.orgId)
    const admitted = log.filter(({ kind, micros }) => kind === 'admitted' && micros !== null).length
    const settled = log.filter(({ kind }) => kind === 'settled' || kind === 'released').length
    const logged = new Set(log.map(({ requestId }) => requestId))
    return settled >= admitted && seen.every(({ requestId }) => requestId === null || logged.has(requestId))
  }
  await becomesTrue(isOver, settledBoundMs)
  const log = await readDecisions(fleet.db, organization.orgId)
  const open = await limited.open(organization.orgId)
  const tookMs = performance.now() - began
  return {
    seed,
    settlesTokens,
    organization,
    seen,
    log,
    replayed: replay(log, settlesTokens),
    open: open.length,
    tookMs,
  }
}

async function checkRound(limited: LimitedFleet, checks: Checks, round: Round): Promise<void> {
  const { seed, settlesTokens, replayed, open, log } = round
  const name = `${settlesTokens ? 'settling' : 'charging'}, seed ${seed}:`
  const { admitted, serial, different, unheard, above } = replayed
  checks.expect(
    `${name} no stretch of time admits more requests or tokens than its due`,
    above.requests <= tolerance && above.tokens <= tolerance,
    `at most ${above.requests.toFixed(3)} requests and ${above.tokens.toFixed(1)} tokens above`,
  )
  checks.expect(
    `${name} as much is admitted as by the same arithmetic, one after the other`,
    admitted + unheard >= serialShareMin * serial,
    `${admitted} of ${serial}`,
  )
  // What Valkey decided and nobody heard of within the time of a command is missing in the log.
  if (unheard === 0)
    checks.expect(`${name} every decision, and every level it saw, is the same`, different === 0, `${different} differ`)
  else console.log(`     ${unheard} decisions without Valkey, or that nobody heard of`)
  checkSeen(checks, name, round)
  checks.expect(`${name} nothing is left reserved`, open === 0, `${open} open`)
  const swept = log.filter(({ detail }) => detail.by === 'sweep').length
  if (swept > 0) console.log(`     ${swept} reservations were settled by the sweep`)
  await checkLedger(limited, checks, name, round)
  if (unheard === 0) await checkLevels(limited, checks, name, round)
}

function checkSeen(checks: Checks, name: string, { seen, log }: Round): void {
  const decided = new Map(log.flatMap(({ kind, requestId }) => (isDecision(kind) ? [[requestId, kind] as const] : [])))
  const answered = seen.filter(({ status }) => status !== null)
  const wrong = answered.filter(
    ({ status, requestId }) => decided.get(requestId ?? '') !== (status === 429 ? 'refused' : 'admitted'),
  )
  checks.expect(
    `${name} what clients saw is what was decided`,
    wrong.length === 0,
    `${answered.length} answers${wrong.length === 0 ? '' : `, ${wrong.length} wrong: ${wrong.slice(0, 3).map(tell).join('; ')}`}`,
  )
  const unseen = decided.size - answered.length
  const left = seen.length - answered.length
  checks.expect(
    `${name} who got no answer was decided on at most once`,
    unseen <= left,
    `${left} without an answer, ${unseen} decided`,
  )
  const failed = seen.filter(({ status, broken }) => broken || (status ?? 0) >= 500)
  checks.expect(`${name} nobody is failed`, failed.length === 0, failed.slice(0, 3).map(tell).join('; '))
}

const isDecision = (kind: Decided['kind']) => kind === 'admitted' || kind === 'refused'
const tell = ({ kind, status, requestId }: Seen) => `${kind} ${status} ${requestId}`

/** What was settled is what the ledger has; what was released is not in it. */
async function checkLedger(limited: LimitedFleet, checks: Checks, name: string, { organization, log }: Round) {
  const { rows } = await limited.fleet.db.query<{ id: string; tokens: number }>(
    `select request_id as id, sum(input_tokens + output_tokens)::float8 as tokens from limits.usage
     where org_id = $1 group by request_id`,
    [organization.orgId],
  )
  const used = new Map(rows.map(({ id, tokens }) => [id, tokens]))
  const settled = log.filter(({ kind }) => kind === 'settled' || kind === 'released')
  const wrong = settled.filter(({ requestId, detail }) => (used.get(requestId) ?? 0) !== (detail.tokens ?? 0))
  const once = new Set(settled.map(({ detail }) => detail.reservation)).size === settled.length
  checks.expect(
    `${name} every reservation is settled once, to what the ledger says`,
    wrong.length === 0 && once,
    `${settled.length} settled, ${rows.length} in the ledger, ${wrong.length} differ`,
  )
}

/** Days and spend are counted again from the ledger in quiet moments; minutes are what the decisions made of them. */
async function checkLevels(
  limited: LimitedFleet,
  checks: Checks,
  name: string,
  { organization, log, replayed }: Round,
) {
  const asked = new Map(log.flatMap(({ detail }) => (detail.buckets ?? []).map((one) => [one.bucket, one])))
  const minutes = [...asked.values()].filter(({ metric }) => isOfMinute(metric))
  const told: string[] = []
  for (const { bucket: field, metric, limit } of minutes) {
    const held = await limited.bucket(organization.orgId, field)
    const periodMs = periodOf(metric)
    const level = replayed.limiter.level({ field, metric, limit, periodMs, cost: 0 }, held?.at ?? 0)
    if (Math.abs((held?.level ?? 0) - level) > tolerance) told.push(`${field} ${held?.level} for ${level}`)
  }
  checks.expect(
    `${name} in the end every bucket of a minute holds what was taken from it`,
    told.length === 0,
    told.length === 0 ? `${minutes.length} buckets` : told.join(', '),
  )
}

function rowOf({ seed, settlesTokens, seen, replayed, open, tookMs }: Round): (string | number)[] {
  const { admitted, refused, bound, serial, different, unheard, above } = replayed
  const mode = settlesTokens ? 'settling' : 'charging'
  const by = (word: string) => bound.get(word) ?? 0
  const most = `${above.requests.toFixed(2)} / ${above.tokens.toFixed(0)}`
  const refusals = `${refused} (${by('RPM')} / ${by('TPM')} / ${by('too large')})`
  return [
    mode,
    seed,
    seen.length,
    admitted,
    serial,
    refusals,
    most,
    different,
    unheard,
    open,
    (tookMs / 1_000).toFixed(1),
  ]
}

export async function proveExact(checks: Checks, sizes: Sizes): Promise<void> {
  const head = ['mode', 'seed', 'requests', 'admitted', 'serially', 'refused (RPM / TPM / too large)']
  const rows: (string | number)[][] = [[...head, 'most above, requests / tokens', 'differ', 'unheard', 'open', 's']]
  for (const settlesTokens of [false, true]) {
    const limited = await LimitedFleet.start({ ...sizes, settlesTokens })
    try {
      for (let seed = sizes.firstSeed; seed < sizes.firstSeed + sizes.seeds; seed += 1) {
        const round = await playRound(limited, sizes, seed, settlesTokens)
        await checkRound(limited, checks, round)
        rows.push(rowOf(round))
      }
    } finally {
      await limited.stop()
    }
  }
  printTable(rows)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '4' },
      clients: { type: 'string', default: '1000' },
      seeds: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '12' },
      limit: { type: 'string', default: '1200' },
      tokens: { type: 'string', default: '600000' },
    },
  })
  const checks = new Checks()
  await proveExact(checks, {
    nodes: Number(values.nodes),
    clients: Number(values.clients),
    seeds: Number(values.seeds),
    firstSeed: Number(values.seed),
    seconds: Number(values.seconds),
    requestsPerMinute: Number(values.limit),
    tokensPerMinute: Number(values.tokens),
  })
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()

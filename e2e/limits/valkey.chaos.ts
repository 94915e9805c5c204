/**
 * Limits without Valkey. It is killed with -9 under load and comes back empty; later it is frozen and comes back with what
 * it had. Meanwhile each process keeps to its share or, where told so, lets nobody in. Afterwards nobody has got more than
 * the limit, nothing is left reserved, and day and month are what the ledger says.
 *
 *   node e2e/limits/valkey.chaos.ts [--seconds 5]
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { sleep } from '#platform/std/clock.ts'
import { freePort } from '../../dev/engines/free-port.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { signalProcess } from '../../dev/processes.ts'
import { startServerNode, type ServerNode } from '../../dev/server-node.ts'
import { Checks } from '../load/checks.ts'
import { Fleet } from '../responses/fleet.ts'
import { BucketLevels } from './bucket-levels.ts'
import { makeOrganizations, type LimitedOrganization } from './limited-organization.ts'
import { call, mostAbove, PacedCallers, prompt, type Answered, type Caller } from './paced-callers.ts'

const perMinute = 1_200
/** As few as the run needs: at the small size the day empties itself by less than a request meanwhile. */
const perDayOf = (awayMs: number) => Math.max(864, Math.ceil(awayMs / 5))
const daySeconds = 86_400
const share = 0.1
const nodes = 2
const lanesEach = 4
const wordMs = 100
const wordsOfLong = 80
const longsOfEachKind = 2
const noticeBoundMs = 5_000
const endBoundMs = 40_000
const settledBoundMs = 40_000
const burst = 100

interface Proof {
  readonly fleet: Fleet
  readonly checks: Checks
  readonly org: LimitedOrganization
  readonly callers: readonly Caller[]
  /** Lets nobody in without Valkey. */
  readonly strict: Caller
  readonly levels: BucketLevels
  readonly awayMs: number
  readonly beganAt: number
}

const dayField = 'RPD:double'
const month = () => new Date().toISOString().slice(0, 7)
const letIn = (answered: readonly Answered[], from: number, to = Infinity) =>
  answered.filter(({ status, at }) => status === 200 && at >= from && at < to)

/** Long before and after the loss: in the background, in the foreground, kept and not. */
async function startLong({ callers }: Proof): Promise<Promise<Response>[]> {
  const [caller] = callers as [Caller]
  const long = { ...prompt, input: 'long' }
  for (let count = 0; count < longsOfEachKind; count += 1) {
    const reply = await call(caller, { ...long, store: true, background: true })
    if (reply.status !== 200) throw new Error(await reply.text())
  }
  return [false, true].flatMap((store) =>
    Array.from({ length: longsOfEachKind }, async () => {
      const reply = await call(caller, { ...long, store, stream: true })
      await reply.arrayBuffer()
      return reply
    }),
  )
}

async function checkAlone({ checks }: Proof, answered: readonly Answered[], from: number, to: number): Promise<void> {
  const seconds = (to - from) / 1_000
  for (let node = 0; node < nodes; node += 1) {
    const own = letIn(answered, from, to).filter((one) => one.node === node)
    const most = (share * perMinute * seconds) / 60
    checks.expect(
      `killed: api ${node + 1} goes on, within its share`,
      own.length > 0 && own.length <= most + 1,
      `${own.length} let in, ${most.toFixed(1)} at most, in ${seconds.toFixed(1)} s`,
    )
  }
  const others = answered.filter(({ status }) => status !== 200 && status !== 429)
  checks.expect('every answer is a 200 or a 429', others.length === 0, others.map(({ status }) => status).join(' '))
}

async function checkStrict({ checks, strict }: Proof): Promise<void> {
  const limited = await Promise.all([
    call(strict),
    call(strict, { model: 'double-chat', messages: [] }, '/v1/chat/completions'),
  ])
  const told = limited.map(({ status, headers }) => `${status} ${headers.get('retry-after-ms')}`)
  checks.expect(
    'told to refuse: limited requests are a 503 with a time to come back',
    limited.every(({ status, headers }) => status === 503 && Number(headers.get('retry-after-ms')) > 0),
    told.join(', '),
  )
  const file = await call(strict, null, '/v1/files')
  checks.expect('told to refuse: everything else goes on', file.status === 200, String(file.status))
}

/** Killed under load, and back with nothing. */
async function loseEverything(proof: Proof): Promise<void> {
  const { fleet, checks, callers, awayMs } = proof
  const { valkey } = fleet.stack
  if (valkey === null) throw new Error('this program takes a Valkey of its own away')
  const load = new PacedCallers(callers, lanesEach)
  const long = await startLong(proof)
  await sleep(awayMs / 2)
  await valkey.kill9()
  const killedAt = performance.now()
  await sleep(awayMs)
  await checkStrict(proof)
  const backAt = performance.now()
  await valkey.restart()
  await checkAlone(proof, load.answered, killedAt, backAt)
  await sleep(awayMs)
  await load.stop()
  const since = letIn(load.answered, killedAt).map(({ at }) => at)
  const above = mostAbove(since, perMinute / 60)
  const allowed = nodes * share * perMinute
  checks.expect(
    'killed: no burst, over any stretch of time from the loss on',
    above <= allowed,
    `${since.length} let in, at most ${above.toFixed(1)} beyond what time gives, ${allowed} allowed`,
  )
  const after = letIn(load.answered, backAt + awayMs / 2)
  checks.expect(
    'killed: all share the limit again',
    after.length > share * perMinute * nodes * (awayMs / 120_000),
    `${after.length} let in`,
  )
  const ended = await Promise.all(long)
  checks.expect(
    'what was under way comes to its end',
    ended.every(({ status }) => status === 200),
    `${ended.length} streams`,
  )
}

async function checkNewcomers(
  { fleet, checks, callers }: Proof,
  others: readonly LimitedOrganization[],
): Promise<void> {
  await fleet.db.query(`update limits.organization set opened_at = now() - interval '3 days' where org_id = $1`, [
    others[1]?.orgId,
  ])
  for (const [index, { key }] of others.entries()) {
    const asked = Array.from({ length: burst }, (_none, at) => call({ port: callers[at % nodes]?.port ?? 0, key }))
    const replies = await Promise.all(asked)
    const refused = replies.filter(({ status }) => status !== 200).length
    const who = index === 0 ? 'a new organisation' : 'one that idled for days'
    checks.expect(`${who} does not start limited`, refused === 0, `${refused} of ${burst} refused`)
  }
}

async function checkLedger({ fleet, checks, org, levels, awayMs, beganAt }: Proof, when: string): Promise<void> {
  const running = async () => (await fleet.db.query('select 1 from responses.running')).rowCount
  checks.expect(`${when}: everything ends`, await becomesTrue(async () => (await running()) === 0, endBoundMs))
  const ledger = async () => {
    const { rows } = await fleet.db.query<{ nanos: number; requests: number; rows: number; turns: number }>(
      `select coalesce(sum(cost_nanos), 0)::float8 as nanos, count(distinct request_id)::int as requests,
         count(*)::int as rows, count(distinct (request_id, turn))::int as turns from limits.usage where org_id = $1`,
      [org.orgId],
    )
    return rows[0] ?? { nanos: 0, requests: 0, rows: 0, turns: 0 }
  }
  const none = await becomesTrue(async () => (await levels.open()) === 0, settledBoundMs)
  checks.expect(`${when}: no reservation is left`, none, `${await levels.open()} open`)
  const spent = () => levels.level(`spend:${month()}`)
  await becomesTrue(async () => (await spent()) === (await ledger()).nanos, settledBoundMs)
  // The day empties itself all the time, by less than this since the first request.
  const emptied = () => ((performance.now() - beganAt) / 1_000) * (perDayOf(awayMs) / daySeconds)
  const isDay = (level: number, requests: number) => level <= requests && level > requests - emptied() - 1e-3
  await becomesTrue(async () => isDay(await levels.level(dayField), (await ledger()).requests), settledBoundMs)
  const { nanos, requests, rows, turns } = await ledger()
  const nanosApart = (await spent()) - nanos
  checks.expect(
    `${when}: the month is what the ledger says, to the billionth`,
    nanosApart === 0,
    `${nanos}, ${nanosApart} apart`,
  )
  const day = await levels.level(dayField)
  checks.expect(
    `${when}: the day is what the ledger says, to the request`,
    isDay(day, requests),
    `${requests} and ${day.toFixed(2)}`,
  )
  checks.expect(`${when}: every turn is charged once`, rows === turns, `${rows} rows`)
}

/** Frozen, and back with what it had: what each process let in by itself counts before it lets anybody in. */
async function freeze(proof: Proof): Promise<void> {
  const { fleet, checks, callers, levels, awayMs } = proof
  const { valkey } = fleet.stack
  if (valkey === null) return
  const before = await levels.level(dayField)
  const long = await call(callers[1] as Caller, { ...prompt, input: 'long', stream: true })
  signalProcess(valkey.pid, 'SIGSTOP')
  const load = new PacedCallers(callers, 1)
  await sleep(awayMs)
  await load.stop()
  signalProcess(valkey.pid, 'SIGCONT')
  await long.arrayBuffer()
  const [first, second] = [0, 1].map((node) => letIn(load.answered, 0).filter((one) => one.node === node).length)
  checks.expect(
    'frozen: both go on',
    (first ?? 0) > 0 && (second ?? 0) > 0,
    `${first} and ${second} let in; a stream ${long.status}`,
  )
  await becomesTrue(
    async () =>
      await levels.open().then(
        () => true,
        () => false,
      ),
    noticeBoundMs,
  )
  for (const [node, caller] of callers.entries()) {
    const local = letIn(load.answered, 0).filter((one) => one.node === node).length
    const held = await levels.level(dayField)
    const counts = async () => {
      const reply = await call(caller)
      return reply.status === 200 && (await levels.level(dayField)) >= held + local
    }
    const counted = await becomesTrue(counts, noticeBoundMs)
    checks.expect(
      `frozen: what api ${node + 1} let in counts`,
      counted,
      `${before.toFixed(1)}, then ${held.toFixed(1)}, then ${(await levels.level(dayField)).toFixed(1)}`,
    )
  }
}

async function startStrict(fleet: Fleet, folder: string): Promise<{ node: ServerNode; port: number }> {
  const port = await freePort()
  const settings = { SWITCHYARD_HTTP_PORT: String(port), SWITCHYARD_LIMITS_WITHOUT_VALKEY: 'refuse' }
  const internalPort = await freePort()
  const env = { ...fleet.stack.env, ...settings }
  const node = await startServerNode({ name: 'api strict', roles: 'api', dataDir: folder, internalPort, env })
  return { node, port }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
  const awayMs = Number(values.seconds) * 1_000
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-limits-'))
  const file = join(folder, 'limits.yaml')
  const limits = { requests_per_minute: perMinute, tokens_per_minute: 10_000_000, requests_per_day: perDayOf(awayMs) }
  await writeFile(file, stringify({ tiers: { tier_1: { limits } } }))
  const settings = { SWITCHYARD_LIMITS: file, SWITCHYARD_LIMITS_LOCAL_SHARE: String(share) }
  const checks = new Checks()
  const fleet = await Fleet.start({ api: nodes, worker: 1, apart: true, settings })
  let strict: ServerNode | null = null
  let levels: BucketLevels | null = null
  try {
    const text = (body: object) => JSON.stringify(body).includes('long')
    fleet.double.decide((body) =>
      text(body) ? { text: 'word '.repeat(wordsOfLong), slowMs: wordMs } : { text: 'All is well.', slowMs: wordMs },
    )
    const started = await startStrict(fleet, folder)
    strict = started.node
    await strict.waitReady()
    const { env } = fleet.stack
    const [org, ...others] = await makeOrganizations(env['SWITCHYARD_POSTGRES_URL'] ?? '', ['busy', 'new', 'idle'])
    if (org === undefined) throw new Error('no organisation')
    levels = new BucketLevels(env['SWITCHYARD_VALKEY_URL'] ?? '', org.orgId)
    const callers = Array.from({ length: nodes }, (_none, index) => ({ port: fleet.portOf(index), key: org.key }))
    const proof = {
      fleet,
      checks,
      org,
      callers,
      strict: { ...org, port: started.port },
      levels,
      awayMs,
      beganAt: performance.now(),
    }
    await loseEverything(proof)
    await checkNewcomers(proof, others)
    await checkLedger(proof, 'killed')
    await freeze(proof)
    await checkLedger(proof, 'frozen')
  } finally {
    levels?.close()
    await strict?.process.kill9()
    await fleet.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()

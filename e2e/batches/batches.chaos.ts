/**
 * Batches under kill -9: one batch for each endpoint, lines shared out among them, and the worker killed in the middle.
 * Every line is in the output once, in the order of the input; the provider is asked again only for lines that a kill
 * interrupted; the ledger holds every line once; one event for each batch; and the memory of the worker stays small.
 *
 *   node e2e/batches/batches.chaos.ts --lines 50000 --kills 2
 */
import { batchEndpoints } from '@switchyard/contracts/batches.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { OpenAI } from 'openai'
import type { Batch } from 'openai/resources/batches'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { Checks } from '../load/checks.ts'
import { EventSink } from '../responses/event-sink.ts'
import { Fleet } from '../responses/fleet.ts'
import { beginBatch, markerIn, readOutput, type Asked } from './batch-files.ts'
import { MemoryWatch } from './memory-watch.ts'

const concurrency = 16
/** The provider is slow enough that few lines take a while as well: kills have to fall into it. */
const wholeMsMin = 6_000
const answerMsMin = 5
const answerMsOf = (lines: number) => Math.max(answerMsMin, Math.ceil((wholeMsMin * concurrency) / lines))
const growthMegabytesMax = 200
/** Not so often that the asking itself is the work. */
const pollMs = 250
const toldEveryMs = 10_000
/** For a line, on two cores that everything shares; and for the rest. */
const boundOf = (lines: number) => 120_000 + lines * 60
const eventBoundMs = 30_000

/** Counts at the provider how often each line was asked for. */
function countCalls(fleet: Fleet, slowMs: number): Map<string, number> {
  const calls = new Map<string, number>()
  fleet.double.decide((body) => {
    const asked = markerIn(body) ?? 'unmarked'
    calls.set(asked, (calls.get(asked) ?? 0) + 1)
    // Kept by the double for those who look at them; fifty thousand would be a lot.
    fleet.double.requests.length = 0
    return { text: `<${asked}> Certainly.`, slowMs }
  })
  return calls
}

const isOver = ({ status }: Batch) => /completed|failed|expired|cancelled/.test(status)

/** Asks how far the batches have come until that is far enough, and tells now and then. */
async function waitFor(
  run: Run,
  far: (now: readonly Batch[], done: number) => boolean,
): Promise<{ now: Batch[]; done: number }> {
  const { client, batches, memory, sizes } = run
  const begun = performance.now()
  for (let toldAt = begun; ;) {
    const now = await Promise.all(batches.map(({ id }) => client.batches.retrieve(id)))
    const done = now.reduce((sum, { request_counts: counts }) => sum + (counts?.completed ?? 0), 0)
    const nowMs = performance.now()
    if (far(now, done) || nowMs - begun > boundOf(sizes.lines)) return { now, done }
    if (nowMs - toldAt > toldEveryMs) {
      toldAt = nowMs
      console.log(`  ${done} of ${sizes.lines} lines, memory of the worker ${memory.growthMegabytes} MB up`)
    }
    await sleep(pollMs)
  }
}

/** Kills the worker each time another share of the lines is done. Returns how many lines were done at each kill. */
async function killMidway(run: Run): Promise<number[]> {
  const { fleet, memory, sizes } = run
  const at: number[] = []
  const worker = fleet.of('worker', 0)
  for (let kill = 1; kill <= sizes.kills; kill += 1) {
    const share = Math.floor((sizes.lines * kill) / (sizes.kills + 1))
    const { done } = await waitFor(run, (now, count) => count >= share || now.every(isOver))
    await worker.process.kill9()
    at.push(done)
    await worker.process.start()
    await worker.waitReady()
    memory.begin(worker.process.pid)
  }
  return at
}

interface Run {
  readonly fleet: Fleet
  readonly client: OpenAI
  readonly batches: readonly Batch[]
  readonly memory: MemoryWatch
  readonly sizes: Sizes
}

interface Sizes {
  readonly lines: number
  readonly kills: number
}

async function proveBatches(fleet: Fleet, checks: Checks, sizes: Sizes): Promise<void> {
  const sink = new EventSink()
  const worker = fleet.of('worker', 0)
  const memory = new MemoryWatch(() => worker.process.pid)
  try {
    await fleet.client().webhooks.create({
      name: 'sink',
      url: await sink.listen(),
      event_types: ['batch.completed', 'batch.failed', 'batch.expired', 'batch.cancelled'],
    })
    const calls = countCalls(fleet, answerMsOf(sizes.lines))
    const asked = shareOut(sizes.lines)
    memory.begin(worker.process.pid)
    const begunMs = performance.now()
    const client = fleet.client()
    const batches = await Promise.all(asked.map((one) => beginBatch(client, one)))
    const run = { fleet, client, batches, memory, sizes }
    const at = await killMidway(run)
    const { now: ended } = await waitFor(run, (now) => now.every(isOver))
    const seconds = (performance.now() - begunMs) / 1_000
    checks.expect(
      'every kill fell into the work',
      at.length === sizes.kills && at.every((done) => done > 0 && done < sizes.lines),
      at.join(', '),
    )
    console.log(`  ${sizes.lines} lines in ${seconds.toFixed(1)} s, killed at ${at.join(' and ')} lines`)
    await audit({ fleet, checks, sizes, asked, ended, calls, sink })
    checks.expect(
      `the memory of the worker grows by less than ${growthMegabytesMax} MB`,
      memory.growthMegabytes < growthMegabytesMax,
      `${memory.growthMegabytes} MB`,
    )
  } finally {
    await memory.end()
    await sink.close()
  }
}

function shareOut(lines: number): Asked[] {
  const each = Math.floor(lines / batchEndpoints.length)
  const rest = lines - each * (batchEndpoints.length - 1)
  return batchEndpoints.map((endpoint, at) => ({ endpoint, lines: at === 0 ? rest : each }))
}

interface Audited {
  readonly fleet: Fleet
  readonly checks: Checks
  readonly sizes: Sizes
  readonly asked: readonly Asked[]
  readonly ended: readonly Batch[]
  readonly calls: ReadonlyMap<string, number>
  readonly sink: EventSink
}

async function audit({ fleet, checks, sizes, asked, ended, calls, sink }: Audited): Promise<void> {
  let tokens = 0
  for (const [index, batch] of ended.entries()) {
    const one = asked[index] ?? { endpoint: '/v1/responses', lines: 0 }
    const { request_counts: counts, status, error_file_id: errors, output_file_id: output } = batch
    const whole = counts?.completed === one.lines && counts.total === one.lines && counts.failed === 0
    checks.expect(
      `${one.endpoint}: completed, with every line`,
      status === 'completed' && whole,
      JSON.stringify(counts),
    )
    const report = await readOutput(fleet.client(), one, output)
    const right = report.lines === one.lines && report.wrong === 0 && errors === undefined
    checks.expect(`${one.endpoint}: each line once, in order, with its own answer`, right, JSON.stringify(report))
    checks.expect(`${one.endpoint}: its usage is that of its lines`, report.tokens === batch.usage?.total_tokens)
    tokens += report.tokens
  }
  const asks = [...calls.values()].reduce((sum, count) => sum + count, 0)
  const repeated = asks - sizes.lines
  checks.expect('the provider was asked for every line', calls.size === sizes.lines && !calls.has('unmarked'))
  checks.expect(
    'and again only for lines that were in hand at a kill',
    repeated >= 0 && repeated <= concurrency * sizes.kills,
    `${repeated} repeated, ${concurrency} in hand at each of ${sizes.kills} kills`,
  )
  const { rows } = await fleet.db.query<{ rows: number; tokens: number }>(
    `select count(*)::int as rows, sum(input_tokens + output_tokens)::int as tokens from limits.usage
     where batch and outcome = 'completed'`,
  )
  checks.expect(
    'the ledger holds every line once',
    rows[0]?.rows === sizes.lines && rows[0].tokens === tokens,
    `${rows[0]?.rows} rows, ${rows[0]?.tokens} of ${tokens} tokens`,
  )
  await becomesTrue(() => sink.byWebhookId.size >= ended.length, eventBoundMs)
  const told = ended.map(({ id }) => (sink.typesOf().get(id) ?? []).join())
  checks.expect(
    'one event for each batch',
    told.every((types) => types === 'batch.completed'),
    told.join(' '),
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { lines: { type: 'string', default: '600' }, kills: { type: 'string', default: '1' } },
  })
  const checks = new Checks()
  const settings = { SWITCHYARD_BATCHES_CONCURRENCY: String(concurrency) }
  const fleet = await Fleet.start({ api: 1, worker: 1, settings })
  try {
    await proveBatches(fleet, checks, { lines: Number(values.lines), kills: Number(values.kills) })
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()

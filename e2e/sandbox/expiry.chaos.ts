/**
 * Containers with one minute to live across two hosts, half of them read from every twenty seconds, while a host is
 * killed with -9 and started again: exactly the idle ones expire, their records say so, and what was in them is found
 * nowhere on disk any more: not the uploaded file, not the copied one, not the skill that came with the request. Then the
 * others are deleted, and nothing of them is found either.
 *
 *   node e2e/sandbox/expiry.chaos.ts --containers 500 --runtime runc
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { Checks } from '../load/checks.ts'
import { printTable } from '../load/print-table.ts'
import { untilDone } from '../responses/background-works.ts'
import { auditRemains } from './audit-remains.ts'
import {
  createExpiring,
  keepActive,
  uploadShared,
  watchExpiry,
  type Expiring,
  type Kept,
} from './expiring-containers.ts'
import { measureIdle, type IdleMemory } from './idle-memory.ts'
import { inLanes } from './in-lanes.ts'
import { SandboxFleet } from './sandbox-fleet.ts'
import { searchCanaries, type Searched } from './search-canaries.ts'

/** Two cores make machines no faster with more. */
const lanes = 6
const dueMs = 60_000
/** After its time, a container is over within this, and its data is gone within this. */
const lateMsMax = 30_000
const endedMs = 240_000
const killAfterMs = 5_000
const awayMs = 1_500

interface Lateness {
  readonly id: string
  readonly status: string
  readonly late_ms: number
  readonly cleared_ms: number | null
}

export interface ExpirySizes {
  readonly containers: number
  /** Told once all are there; whoever asks to be told does the killing too. */
  readonly onMade?: () => void
}

export async function proveExpiry(
  fleet: SandboxFleet,
  checks: Checks,
  { containers: count, onMade }: ExpirySizes,
): Promise<void> {
  const mark = `canary${randomBytes(6).toString('hex')}x`
  const shared = `${mark}shared`
  await watchExpiry(fleet)
  const sharedFileId = await uploadShared(fleet, shared)
  const stop = new AbortController()
  const reading: Promise<Kept>[] = []
  const begun = performance.now()
  const made = await inLanes(lanes, count, async (index) => {
    const kept = index % 2 === 1
    const one = await createExpiring(fleet, { canary: canaryOf(mark, index), sharedFileId, kept })
    if (kept) reading.push(keepActive(fleet, one, stop.signal))
    return one
  })
  const madeMs = performance.now() - begun
  const memory = measureIdle(fleet)
  onMade?.()
  const control = await searchCanaries(fleet, mark, new Set(made.map(({ id }) => id)))
  checkControl(checks, control, made, mark)
  if (onMade === undefined) await killHost(fleet)
  const lateness = await waitForEnds(fleet, made)
  await checkEnded(fleet, checks, made, lateness)
  const kept = new Set(made.flatMap(({ id, kept: is }) => (is ? [id] : [])))
  const keptMarks = new Set(made.flatMap((one, at) => (one.kept ? [canaryOf(mark, at)] : [])))
  checkGone(checks, 'of expired containers', await searchCanaries(fleet, mark, kept), keptMarks, shared)
  stop.abort()
  const activity = await Promise.all(reading)
  await deleteAll(fleet, kept)
  checkGone(checks, 'of deleted containers', await searchCanaries(fleet, mark, new Set()), new Set(), shared)
  report({ count, madeMs, memory, lateness, activity })
}

async function killHost(fleet: SandboxFleet): Promise<void> {
  const node = fleet.hosts[0]?.node
  await sleep(killAfterMs)
  await node?.process.kill9()
  await sleep(awayMs)
  await node?.process.start()
  await node?.waitReady()
}

const canaryOf = (mark: string, index: number) => `${mark}n${index}`

/** Before anything ends, the search finds all of it: what it does not find later is not there. */
function checkControl(checks: Checks, found: Searched, made: readonly Expiring[], mark: string): void {
  const alive = made.length - 1
  const seen = (map: ReadonlyMap<string, number>) =>
    [...map.keys()].filter((name) => name.startsWith(`${mark}n`)).length
  checks.expect(
    'while containers live, the search finds what is in them, and their skills among the blobs',
    seen(found.hosts) > alive / 4 && seen(found.blobs) > alive / 4,
    `${seen(found.hosts)} of ${made.length} on hosts, ${seen(found.blobs)} in blobs`,
  )
}

async function latenessOf(fleet: SandboxFleet, made: readonly Expiring[]): Promise<Lateness[]> {
  const { rows } = await fleet.db.query<Lateness>(
    `select e.id, e.status, extract(epoch from e.at - e.due)::float8 * 1000 as late_ms,
       extract(epoch from c.cleared_at - e.due)::float8 * 1000 as cleared_ms
     from public.container_end e left join containers.container c on c.id = e.id where e.id = any($1)`,
    [made.map(({ id }) => id)],
  )
  return rows
}

/** Until every idle one is over and cleared, and then for so long that a kept one would be over too if it was not kept. */
async function waitForEnds(fleet: SandboxFleet, made: readonly Expiring[]): Promise<Lateness[]> {
  const idle = made.filter(({ kept }) => !kept).length
  const ended = async () => {
    const rows = await latenessOf(fleet, made)
    return rows.filter(({ cleared_ms }) => cleared_ms !== null).length >= idle
  }
  await becomesTrue(async () => (await sleep(500), await ended()), dueMs + endedMs)
  return await latenessOf(fleet, made)
}

async function checkEnded(
  fleet: SandboxFleet,
  checks: Checks,
  made: readonly Expiring[],
  lateness: readonly Lateness[],
): Promise<void> {
  const over = new Set(lateness.map(({ id }) => id))
  const wrong = made.filter(({ id, kept }) => over.has(id) === kept)
  checks.expect(
    'exactly the idle containers expired',
    wrong.length === 0 && lateness.every(({ status }) => status === 'expired'),
    `${over.size} of ${made.length}; wrong: ${wrong.map(({ id, kept }) => `${id} ${kept ? 'kept' : 'idle'}`).join(' ')}`,
  )
  checks.expect(
    'none before its time, none twice',
    lateness.every(({ late_ms }) => late_ms >= 0) && over.size === lateness.length,
  )
  const late = Math.max(...lateness.map(({ late_ms, cleared_ms }) => Math.max(late_ms, cleared_ms ?? Infinity)))
  checks.expect(
    `over, and cleared, within ${lateMsMax / 1_000} s of its time`,
    late <= lateMsMax,
    `${(late / 1_000).toFixed(1)} s`,
  )
  const client = fleet.client()
  const odd = await inLanes(lanes, made.length, async (index) => {
    const { id, kept } = made[index] as Expiring
    const { status } = await untilDone(() => client.containers.retrieve(id))
    const { data } = await untilDone(() => client.containers.files.list(id))
    return status === (kept ? 'active' : 'expired') && data.length === (kept ? 2 : 0)
      ? []
      : [`${id} ${status} ${data.length}`]
  })
  checks.expect('records and lists of files say so', odd.flat().length === 0, odd.flat().slice(0, 5).join('; '))
}

function checkGone(
  checks: Checks,
  what: string,
  { blobs, hosts, docker }: Searched,
  kept: ReadonlySet<string>,
  shared: string,
): void {
  const left = [...blobs.keys(), ...hosts.keys(), ...docker.keys()].filter((name) => name !== shared && !kept.has(name))
  const copies = hosts.get(shared) ?? 0
  checks.expect(
    `nothing ${what} is left in blobs, host folders or the engine's`,
    left.length === 0 && copies === kept.size && !docker.has(shared) && blobs.has(shared),
    `${[...hosts.keys()].filter((name) => kept.has(name)).length} others found; left: ${left.slice(0, 5).join(' ')}; ${copies} copies of the project's file`,
  )
}

async function deleteAll(fleet: SandboxFleet, ids: ReadonlySet<string>): Promise<void> {
  const client = fleet.client()
  const all = [...ids]
  await inLanes(lanes, all.length, async (index) => await untilDone(() => client.containers.delete(all[index] ?? '')))
}

function report(told: {
  count: number
  madeMs: number
  memory: IdleMemory
  lateness: readonly Lateness[]
  activity: readonly Kept[]
}): void {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
  const at = (values: readonly number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0
  const late = told.lateness.map(({ late_ms }) => late_ms)
  const cleared = told.lateness.flatMap(({ cleared_ms }) => (cleared_ms === null ? [] : [cleared_ms]))
  printTable([
    ['What', 'Figure'],
    ['containers made, with their first file', `${told.count} in ${seconds(told.madeMs)}`],
    ['rate', `${((told.count * 1_000) / told.madeMs).toFixed(1)} a second`],
    ['expired, late p50 / p99 / most', [at(late, 0.5), at(late, 0.99), at(late, 1)].map(seconds).join(' / ')],
    ['cleared, late p50 / p99 / most', [at(cleared, 0.5), at(cleared, 0.99), at(cleared, 1)].map(seconds).join(' / ')],
    ['reads that kept containers active', told.activity.reduce((sum, { reads }) => sum + reads, 0)],
    ['longest time between two reads', seconds(Math.max(0, ...told.activity.map(({ gapMs }) => gapMs)))],
    ['boxes when memory was measured', told.memory.boxes],
    [
      'memory of one: RSS / PSS / control group',
      [told.memory.rssMiB, told.memory.pssMiB, told.memory.cgroupMiB].map((mib) => `${mib.toFixed(1)} MiB`).join(' / '),
    ],
  ])
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { containers: { type: 'string', default: '500' }, runtime: { type: 'string', default: 'runc' } },
  })
  const checks = new Checks()
  const fleet = await SandboxFleet.start({ runtime: values.runtime, hosts: 2 })
  try {
    await proveExpiry(fleet, checks, { containers: Number(values.containers) })
    await auditRemains(fleet, checks, fleet.hosts)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()

/**
 * What limits cost. Admissions through eight rate buckets and the month's spend, beside the least that a limiter in Valkey
 * can be: one bucket, one EVALSHA, over the same connection with as many in flight. Then what one api process answers, and
 * what limits add to each answer: the same requests of an organisation with limits and of one without.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createValkey, type Valkey } from '#platform/cache/valkey.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { makeOrganizations } from '../e2e/limits/limited-organization.ts'
import { ValkeyBuckets } from '../server/src/modules/limits/admission/valkey-buckets.ts'
import type { Bucket } from '../server/src/modules/limits/domain/buckets.ts'
import type { BenchOptions } from './bench-stack.ts'
import { median, type Figure } from './figure.ts'
import { figureOf, inTurn, type Rounds } from './in-turn.ts'
import { ask, benchModel, ourTwin, withProvider, type ResponsesBench } from './responses-stack.ts'

export interface LimitsAdmissionSize extends BenchOptions, Omit<Rounds, 'label'> {
  /** Admissions of one side of a round. */
  readonly admissions: number
}

const label = 'limits-admission'
const inFlight = 32
const connections = 32
const bareName = 'bench:bare'
const commandTimeoutMs = 10_000
const projectId = 'proj_bench0123456789abcdef0123'
const enough = 1e12

/** GCRA as it is usually written: one key, one number. */
const bareScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local arrival = tonumber(redis.call('GET', KEYS[1]) or '0')
if arrival < now then arrival = now end
local next_arrival = arrival + tonumber(ARGV[1])
if next_arrival - now > tonumber(ARGV[2]) then return { 0, next_arrival - now } end
redis.call('SET', KEYS[1], string.format('%d', next_arrival), 'PX', 60000)
return { 1, next_arrival - now }
`

function eightAndSpend(): Bucket[] {
  const levels = [
    { level: 'organization', prefix: '' },
    { level: 'project', prefix: `${projectId}:` },
  ] as const
  const rates = [
    { metric: 'RPM', periodMs: 60_000, cost: 1 },
    { metric: 'RPD', periodMs: 86_400_000, cost: 1 },
    { metric: 'TPM', periodMs: 60_000, cost: 250 },
    { metric: 'TPD', periodMs: 86_400_000, cost: 250 },
  ] as const
  const buckets: Bucket[] = rates.flatMap((rate) =>
    levels.map(({ level, prefix }) => ({ ...rate, level, field: `${prefix}${rate.metric}:bench`, limit: enough })),
  )
  const spend = { level: 'organization', metric: 'spend', periodMs: 0, cost: 1_000 } as const
  return [...buckets, { ...spend, field: 'spend:2026-11', limit: 1e15 }]
}

/** As many in flight as there are, until so many are done. */
async function perSecond(total: number, one: (number: number) => Promise<void>): Promise<number> {
  let next = 0
  const lane = async () => {
    while (next < total) {
      next += 1
      await one(next)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (total * 1_000) / (performance.now() - began)
}

interface Sides {
  readonly admit: (total: number) => Promise<number>
  readonly bare: (total: number) => Promise<number>
}

async function sidesOf(valkey: Valkey): Promise<Sides> {
  const buckets = new ValkeyBuckets(valkey, 'bench:')
  const asked = eightAndSpend()
  const holder = { node: 'lnode_bench', projectId, keyId: 'key_bench', operation: 'responses', model: benchModel }
  const gcra = valkey.script(bareName, bareScript)
  let made = 0
  return {
    async admit(total) {
      // A hash of its own each time: what was reserved before would only pile up.
      const orgId = `org-bench${made}`
      await buckets.open(orgId, { lost: false, levels: [], open: [] })
      return await perSecond(total, async () => {
        made += 1
        const id = `req_${String(made).padStart(24, '0')}`
        const verdict = await buckets.admit(orgId, { id, holder }, asked)
        assert(verdict !== null && verdict !== 'again' && verdict.admitted, 'the bench asks for less than there is')
      })
    },
    async bare(total) {
      return await perSecond(total, async () => {
        const [admitted] = (await gcra([bareName], [1, 60_000_000])) as [number]
        assert(admitted === 1)
      })
    },
  }
}

const microsPerCall = /^cmdstat_evalsha:.*usec_per_call=([\d.]+)/m

async function measureAdmissions(
  bench: ResponsesBench,
  { rounds, admissions }: LimitsAdmissionSize,
  say: (line: string) => void,
): Promise<{ ratio: number; admit: number; bare: number; told: string }> {
  const log = createLog({ level: 'error', pretty: true, name: label })
  const valkey = createValkey({ url: bench.stack.env['SWITCHYARD_VALKEY_URL'] ?? '', log, commandTimeoutMs })
  await valkey.open()
  try {
    const sides = await sidesOf(valkey)
    const micros = async (run: Promise<number>) => {
      await valkey.client.config('RESETSTAT')
      const rate = await run
      return { rate, micros: Number(microsPerCall.exec(await valkey.client.info('commandstats'))?.[1] ?? Number.NaN) }
    }
    await sides.bare(admissions)
    await sides.admit(admissions)
    const seen: { admit: number; bare: number; admitMicros: number; bareMicros: number }[] = []
    for (let round = 0; round < rounds; round += 1) {
      // The twin before and after: what else the machine does meanwhile weighs on both.
      const before = await micros(sides.bare(admissions))
      const admit = await micros(sides.admit(admissions))
      const after = await micros(sides.bare(admissions))
      const bare = (before.rate + after.rate) / 2
      seen.push({ admit: admit.rate, bare, admitMicros: admit.micros, bareMicros: (before.micros + after.micros) / 2 })
      say(`${label} round ${round + 1}: ${admit.rate.toFixed(0)}/s beside ${bare.toFixed(0)}/s bare`)
    }
    const middle = (pick: (one: (typeof seen)[number]) => number) => median(seen.map(pick))
    const inValkey = `${middle((one) => one.admitMicros).toFixed(1)} and ${middle((one) => one.bareMicros).toFixed(1)} us of them in Valkey`
    return {
      ratio: middle((one) => one.admit / one.bare),
      admit: middle((one) => one.admit),
      bare: middle((one) => one.bare),
      told: inValkey,
    }
  } finally {
    await valkey.close()
  }
}

/** Numbers that no bench reaches. */
const unreached = { requests_per_minute: 1e9, requests_per_day: 1e11, tokens_per_minute: 1e12, tokens_per_day: 1e12 }

export async function benchLimitsAdmission(size: LimitsAdmissionSize, say: (line: string) => void): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const file = join(folder, 'limits.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ tiers: { tier_1: { limits: unreached } } }))
  const settings = { ...size.settings, SWITCHYARD_LIMITS: file }
  try {
    return await withProvider({ ...size, settings, events: 0 }, (bench) => measure(bench, size, say))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(
  bench: ResponsesBench,
  size: LimitsAdmissionSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const alone = await measureAdmissions(bench, size, say)
  const [org] = await makeOrganizations(bench.postgresUrl, ['bench'])
  const body = JSON.stringify({ model: benchModel, input: 'How is the line today? '.repeat(10), store: false })
  const unlimited = ourTwin(bench, { path: '/v1/responses', body, connections })
  const limited = { ...unlimited, name: 'limited', load: { ...unlimited.load, key: org?.key ?? '' } }
  for (const twin of [limited, unlimited]) await ask(twin)
  const rounds = await inTurn(bench, [limited, { ...unlimited, name: 'unlimited' }], { ...size, label }, say)
  const p50 = figureOf(rounds, { name: `${label} p50`, unit: 'ms', digits: 2 }, ({ p50Ms }) => p50Ms)
  const p99 = figureOf(rounds, { name: `${label} p99`, unit: 'ms', digits: 2 }, ({ p99Ms }) => p99Ms)
  const cpu = figureOf(
    rounds,
    { name: `${label} server CPU per request`, unit: 'us', digits: 0 },
    (one) => one.cpuMicros,
  )
  const served = median(rounds.map(([, one]) => one?.perSecond ?? Number.NaN))
  return [
    {
      name: `${label} nine buckets ÷ bare EVALSHA of one`,
      ratio: alone.ratio,
      target: { atLeast: 0.3 },
      measured: `${alone.admit.toFixed(0)} : ${alone.bare.toFixed(0)} admissions/s, ${alone.told}`,
    },
    {
      name: `${label} admissions ÷ requests of an api process`,
      ratio: alone.admit / served,
      target: { atLeast: 5 },
      measured: `${alone.admit.toFixed(0)} : ${served.toFixed(0)} a second`,
    },
    { ...p50, target: null },
    { ...p99, target: null },
    { ...cpu, target: null },
  ]
}

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createValkey, type Valkey } from '#platform/cache/valkey.ts'
import { newId } from '#platform/std/ids.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Bucket, Metric } from '../domain/buckets.ts'
import type { Verdict } from '../domain/verdict.ts'
import { fullSince, mostAbove, ReferenceLimiter, type ReferenceVerdict } from '../testing/reference-limiter.ts'
import { LocalBuckets } from './local-buckets.ts'
import { backgroundNode } from './reservation.ts'
import { clockText } from './scripts.ts'
import { ValkeyBuckets } from './valkey-buckets.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const schedules = Number(process.env['SWITCHYARD_TEST_SCHEDULES'] ?? 3_000)
const stepsMax = 40
/** What the SDK waits at most. */
const waitMsMax = 60_000
const startMicros = 1_800_000_000_000_000
const commandTimeoutMs = 10_000

const holder = { node: backgroundNode, projectId: 'proj_x', keyId: 'key_x', operation: 'responses', model: 'm' }

/** All buckets that schedules ask, some of them at a time. */
const kinds = [
  { field: 'RPM:a', metric: 'RPM', periodMs: minuteMs },
  { field: 'proj_x:RPM:a', metric: 'RPM', periodMs: minuteMs },
  { field: 'RPD:a', metric: 'RPD', periodMs: dayMs },
  { field: 'TPM:a', metric: 'TPM', periodMs: minuteMs },
  { field: 'proj_x:TPM:a', metric: 'TPM', periodMs: minuteMs },
  { field: 'TPD:a', metric: 'TPD', periodMs: dayMs },
  { field: 'IPM:a', metric: 'IPM', periodMs: minuteMs },
  { field: 'spend:2026-11', metric: 'spend', periodMs: 0 },
] as const satisfies readonly { field: string; metric: Metric; periodMs: number }[]

type Step =
  | { readonly do: 'pass'; readonly micros: number }
  | { readonly do: 'ask'; readonly id: number; readonly costs: readonly (number | null)[] }
  | { readonly do: 'settle'; readonly id: number; readonly tokens: number | null; readonly spend: number }
  | { readonly do: 'release'; readonly id: number }
  | { readonly do: 'limits'; readonly limits: readonly number[] }
  | { readonly do: 'lose' }
  | { readonly do: 'spend'; readonly nanos: number }

const limits = fc.tuple(
  ...kinds.map(() => fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 5_000 }))),
)
const id = fc.integer({ min: 0, max: 9 })
const cost = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.integer({ min: 0, max: 6_000 }))
const pass = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 20_000_000 }),
  // Just the time in which a bucket of so many a minute gives one out.
  fc.integer({ min: 1, max: 60 }).map((times) => times * 1_000_000),
  fc.integer({ min: 0, max: 86_400_000_000 }),
)
const tokens = fc.option(fc.integer({ min: 0, max: 8_000 }))
const ask = fc.record({
  do: fc.constant('ask' as const),
  id,
  costs: fc.tuple(...kinds.map(() => fc.option(cost, { freq: 2 }))),
})
const usual: readonly { weight: number; arbitrary: fc.Arbitrary<Step> }[] = [
  { weight: 10, arbitrary: ask },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass' as const), micros: pass }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      id,
      tokens,
      spend: fc.integer({ min: 0, max: 8_000 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), id }) },
]
const rare: typeof usual = [
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limits' as const), limits }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('spend' as const), nanos: fc.integer({ min: 0, max: 3_000 }) }) },
]
const steps = (of: typeof usual) => fc.array(fc.oneof(...of), { minLength: 1, maxLength: stepsMax, size: 'max' })

const bucketsOf = (given: readonly number[], costs: readonly (number | null)[]): Bucket[] =>
  kinds.flatMap((kind, at) => {
    const asked = costs[at] ?? null
    return asked === null ? [] : [{ ...kind, level: 'organization' as const, limit: given[at] ?? 1, cost: asked }]
  })

let valkey: Valkey
const clockKey = `{${newId('test_')}}clock`

before(async () => {
  const url = process.env['SWITCHYARD_TEST_VALKEY_URL'] ?? ''
  valkey = createValkey({ url, log: createLog({ level: 'error', pretty: false, name: 'test' }), commandTimeoutMs })
  await valkey.open()
})
after(async () => {
  await valkey.client.del(clockKey)
  await valkey.close()
})

/** The scripts as they are, but for the clock: it says what a key says, so that days pass in no time. */
function withClock(given: Valkey): Valkey {
  const clock = `\nlocal function clock() return tonumber(redis.call('GET', '${clockKey}')) end\n`
  const script: Valkey['script'] = (name, lua, reply) => {
    assert.ok(lua.includes(clockText), `${name} has a clock of its own`)
    return given.script(name, lua.replace(clockText, clock), reply)
  }
  return { client: given.client, call: given.call, script } as unknown as Valkey
}

interface Waiting {
  readonly what: string
  readonly said: Promise<unknown>
  readonly expect: (said: unknown) => void
}

const orgId = 'org-x'
const spent = { field: 'spend:2026-11', metric: 'spend', limit: 0, periodMs: 0, cost: 0 } as const
const spentBefore = 2

/** Plays a schedule to both, all of it at once: commands of one connection are carried out in their order. */
class Play {
  readonly #prefix = `${newId('test_')}:`
  readonly #key = `${this.#prefix}limits:{${orgId}}`
  readonly #buckets = new ValkeyBuckets(withClock(valkey), this.#prefix, () => 0)
  readonly #waiting: Waiting[] = []
  #limits: readonly number[]
  #now = startMicros
  /** Null: there is no hash. */
  #model: ReferenceLimiter | null = null
  #madeBefore = false

  constructor(given: readonly number[]) {
    this.#limits = given
    this.#pass(0)
  }

  async all(steps: readonly Step[]): Promise<void> {
    for (const step of steps) this.#take(step)
    const left = this.#model?.open ?? new Set()
    this.#say('open in the end', this.#buckets.listOpen(orgId), (found) =>
      assert.deepEqual(new Set((found as { id: string }[]).map((one) => one.id)), left),
    )
    void valkey.client.del(this.#key)
    for (const { what, said, expect } of this.#waiting) {
      const result = await said
      if (result instanceof Error) throw new Error(what, { cause: result })
      expect(result)
    }
  }

  #take(step: Step): void {
    const name = 'id' in step ? `req_${step.id}` : ''
    const closes = (closed: boolean | undefined) => (held: unknown) =>
      assert.equal(typeof held === 'string', closed ?? false)
    switch (step.do) {
      case 'pass':
        return this.#pass(step.micros)
      case 'limits':
        this.#limits = step.limits
        return
      case 'ask':
        return this.#ask(name, bucketsOf(this.#limits, step.costs))
      case 'settle': {
        const said = this.#buckets.settle(orgId, name, step.tokens, step.spend)
        return this.#say(name, said, closes(this.#model?.settle(name, step.tokens, step.spend, this.#now)))
      }
      case 'release':
        return this.#say(name, this.#buckets.release(orgId, name), closes(this.#model?.release(name, this.#now)))
      case 'spend':
        this.#model?.add(spent, step.nanos, this.#now)
        return this.#say('spend', this.#buckets.spend(orgId, [spent.field], step.nanos), () => undefined)
      case 'lose':
        void valkey.client.del(this.#key)
        this.#model = null
    }
  }

  #pass(micros: number): void {
    this.#now += micros
    void valkey.client.set(clockKey, String(this.#now))
  }

  #ask(name: string, asked: Bucket[]): void {
    const now = this.#now
    const ask = () => this.#buckets.admit(orgId, { id: name, holder }, asked)
    if (this.#model === null) this.#say('missing hash', ask(), (verdict) => assert.equal(verdict, null))
    const model = this.#model ?? this.#open()
    const expected = model.ask(name, asked, now)
    this.#say(name, ask(), (verdict) => sameVerdict(verdict as Verdict | 'again', expected, now))
  }

  #open(): ReferenceLimiter {
    const lost = this.#madeBefore
    const levels = [{ field: spent.field, level: spentBefore }]
    this.#say('open', this.#buckets.open(orgId, { lost, levels, open: [] }), () => undefined)
    this.#model = new ReferenceLimiter(lost ? fullSince(this.#now) : undefined)
    this.#model.add(spent, spentBefore, this.#now)
    this.#madeBefore = true
    return this.#model
  }

  #say(what: string, said: Promise<unknown>, expect: (said: unknown) => void): void {
    this.#waiting.push({ what, said: said.catch((error: unknown) => error), expect })
  }
}

/** A script that Valkey does not know yet is sent a second time, and would be carried out late. */
async function learnScripts(): Promise<void> {
  const buckets = new ValkeyBuckets(withClock(valkey), `${newId('test_')}:`)
  await valkey.client.set(clockKey, String(startMicros))
  await buckets.admit(orgId, { id: 'req_x', holder }, bucketsOf([1], [1]))
  await buckets.open(orgId, { lost: false, levels: [], open: [] })
  await buckets.release(orgId, 'req_x')
  await buckets.spend(orgId, [spent.field], 1)
}

function sameVerdict(said: Verdict | 'again', expected: ReferenceVerdict | 'again', now: number): void {
  if (said === 'again' || expected === 'again') return assert.equal(said, expected)
  assert.equal(said.admitted, expected.admitted)
  assert.equal(said.binding?.field, expected.binding?.field)
  sameLevels(said.before, expected.before)
  assert.equal(said.clockMicros, now)
  if (said.admitted) return
  assert.equal(said.retryAfterMs === null, expected.waitMicros === null)
  if (said.retryAfterMs === null || expected.waitMicros === null) return
  // Never told to come back before there is room, and the longest that anybody is told without need is a minute.
  const roomMs = expected.waitMicros / 1_000
  assert.ok(said.retryAfterMs >= roomMs - 1, `${said.retryAfterMs} ms, room after ${roomMs}`)
  assert.ok(said.retryAfterMs <= Math.max(waitMsMax, roomMs + 1), `${said.retryAfterMs} ms, room after ${roomMs}`)
}

function sameLevels(said: readonly number[], expected: readonly number[]): void {
  assert.equal(said.length, expected.length)
  for (const [at, level] of said.entries())
    assert.ok(Math.abs(level - (expected[at] ?? NaN)) < 1e-5, `${level} is not ${expected[at]}`)
}

test('whatever is asked, settled, released, changed or lost: buckets in Valkey do as the rules say', async () => {
  // S3-2.5-g, S3-7.2-c
  await learnScripts()
  await fc.assert(
    fc.asyncProperty(limits, steps([...usual, ...rare]), (given, all) => new Play(given).all(all)),
    { numRuns: schedules, endOnFailure: false },
  )
})

test('a process that limits by itself does as the rules say', () => {
  const asksOnly = steps(usual.slice(0, 2))
  fc.assert(
    fc.property(limits, asksOnly, (given, all) => {
      const model = new ReferenceLimiter()
      const seen = new Set<string>()
      const local = new LocalBuckets(1)
      let now = 0
      for (const [at, step] of all.entries()) {
        if (step.do === 'pass') now += step.micros
        if (step.do !== 'ask') continue
        // Spend is not known without the ledger, and does not bind here.
        const asked = bucketsOf(given, step.costs).filter(({ metric }) => metric !== 'spend')
        // What was used before it was on its own is not known: minute buckets are full when first asked.
        for (const bucket of asked)
          if (bucket.periodMs === minuteMs && !seen.has(bucket.field)) model.add(bucket, bucket.limit, now)
        for (const { field } of asked) seen.add(field)
        const expected = model.ask(`req_${at}`, asked, now) as ReferenceVerdict
        const said = local.admit(orgId, asked, now / 1_000)
        assert.equal(said.admitted, expected.admitted)
        sameLevels(said.before, expected.before)
        if (said.admitted) continue
        assert.equal(said.retryAfterMs === null, expected.waitMicros === null)
        // A slot of its own, after those that were promised before.
        assert.ok((said.retryAfterMs ?? 0) - (expected.waitMicros ?? 0) / 1_000 > -1.001)
      }
    }),
    { numRuns: schedules },
  )
})

test('no stretch of time lets in more than the limit and what that time gives', () => {
  fc.assert(
    fc.property(limits, steps(usual), (given, all) => {
      const model = new ReferenceLimiter()
      const events = kinds.map((): { at: number; amount: number; admission: boolean }[] => [])
      let now = startMicros
      for (const [at, step] of all.entries()) {
        if (step.do === 'pass') now += step.micros
        if (step.do !== 'ask') continue
        const asked = bucketsOf(given, step.costs)
        const verdict = model.ask(`req_${at}`, asked, now) as ReferenceVerdict
        if (!verdict.admitted) continue
        for (const { field, cost: amount } of asked)
          events[kinds.findIndex((kind) => kind.field === field)]?.push({ at: now, amount, admission: true })
      }
      for (const [at, { periodMs }] of kinds.entries())
        if (periodMs > 0) assert.ok(mostAbove(events[at] ?? [], given[at] ?? 1, periodMs) < 1e-5)
    }),
    { numRuns: schedules },
  )
})

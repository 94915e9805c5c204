import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { CacheUnavailable, type Valkey } from '#platform/cache/valkey.ts'
import { Fault } from '#platform/errors/fault.ts'
import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import type { Limits } from '../module.ts'
import { DecisionLog } from '../steps/decision-log.ts'
import { Ledger } from '../steps/ledger.ts'
import { sweepReservations } from '../steps/sweep-reservations.ts'
import type { LimitsTables } from '../store/tables.ts'
import { testModel } from '../testing/buckets-kit.ts'
import { workKit, type WorkKit } from '../testing/work-kit.ts'
import type { Admission } from './admission.ts'

const row = { operation: 'responses', model: 'one', inputTokens: 1_000, outputMax: null } as const
const never = new AbortController().signal
const callers = 64
const measuredMs = 6_000
const withinMs = 10_000
const used = { input: 900, cached: 0, output: 100 }

const work = (kit: WorkKit, limits: Limits, asked: Partial<Parameters<Limits['admitWork']>[1]> = {}, signal = never) =>
  limits.admitWork(kit.charged(), { ...row, ...asked }, signal)

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof Fault, `${String(error)} is no fault`)
  return error
}

/** Callers that ask, work for a moment and ask again, until they are stopped. When each was let in. */
function keepBusy(kit: WorkKit, limits: Limits, count: number, signal: AbortSignal) {
  const at: number[] = []
  const caller = async () => {
    try {
      while (!signal.aborted) {
        const admission = await work(kit, limits, {}, signal)
        at.push(performance.now())
        await sleep(5)
        admission.settle([used])
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
  return { at, done: Promise.all(Array.from({ length: count }, caller)) }
}

/** Takes what the bucket gives at once. */
const drain = (kit: WorkKit, limits: Limits) => work(kit, limits, { outputMax: 600_000 })

/** Admissions a second over the stretch from the first to the last of them. */
const ratePerSecond = (at: readonly number[]) => ((at.length - 1) * 1_000) / ((at.at(-1) ?? 0) - (at[0] ?? 0))

async function decisions(kit: WorkKit) {
  const { rows } = await sql<{ kind: string; waits: boolean; request_id: string }>`
    select kind, coalesce((detail ->> 'waits')::boolean, false) as waits, request_id
    from limits.decision where kind in ('admitted', 'refused') order by at, id`.execute(kit.database.kysely)
  return rows
}

const flush = async (limits: Limits) => {
  for (const part of limits.parts) if (part.name === 'limit decisions') await part.stop?.()
}

test('much work at once is let in as fast as the token limit gives, and asks for each at most twice', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 600_000 })
  const limits = kit.limits()
  await drain(kit, limits)
  const stop = new AbortController()
  const { at, done } = keepBusy(kit, limits, callers, stop.signal)
  // Those who ask at once until the first is told to wait.
  assert.ok(await becomesTrue(async () => at.length > 0, withinMs))
  const before = { asks: kit.asks(), letIn: at.length }
  await sleep(measuredMs)
  stop.abort()
  await done
  const asks = (kit.asks() - before.asks) / (at.length - before.letIn)
  const rate = ratePerSecond(at)
  t.diagnostic(`${at.length} let in, ${rate.toFixed(2)} a second of 10, ${asks.toFixed(2)} asks each`)
  assert.ok(rate > 9.5 && rate < 10.5, `${rate} a second`)
  assert.ok(asks <= 2.05, `${asks} asks each`)
  await flush(limits)
  const told = await decisions(kit)
  assert.equal(told.filter(({ kind, waits }) => kind === 'refused' && !waits).length, 0)
  const waits = told.filter((one) => one.waits).length
  assert.ok(waits > 0 && waits <= (measuredMs + 2_000) / 1_000 + 2, `${waits} waits in the log`)
})

test('processes share what there is, and a request that obeys what it is told comes in between', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 600_000 })
  const [one, two] = [kit.limits(), kit.limits()]
  await drain(kit, one)
  const stop = new AbortController()
  const began = performance.now()
  const busy = [one, two].map((limits) => keepBusy(kit, limits, callers / 2, stop.signal))
  const letIn = () => busy.reduce((sum, { at }) => sum + at.length, 0)
  assert.ok(await becomesTrue(async () => busy.every(({ at }) => at.length > 0), withinMs))
  const before = { asks: kit.asks(), letIn: letIn() }
  const tries: number[] = []
  while (performance.now() - began < measuredMs) tries.push(await askUntilIn(kit, one))
  const seconds = (performance.now() - began) / 1_000
  stop.abort()
  await Promise.all(busy.map(({ done }) => done))
  const shares = busy.map(({ at }) => at.length)
  const rate = (letIn() + tries.length) / seconds
  const asks = (kit.asks() - before.asks - tries.reduce((sum, count) => sum + count, 0)) / (letIn() - before.letIn)
  t.diagnostic(
    `${shares.join(' and ')} let in, requests in ${tries.join(', ')} tries, ${rate.toFixed(2)} a second of 10`,
  )
  t.diagnostic(`${asks.toFixed(2)} asks each`)
  assert.ok(rate > 9.3 && rate < 10.7, `${rate} a second`)
  assert.ok(asks <= 2.2, `${asks} asks each`)
  assert.ok(Math.min(...shares) / Math.max(...shares) > 0.6, shares.join(' and '))
  assert.ok(tries.length >= 2 && tries.every((count) => count <= 3), `requests in ${tries.join(', ')} tries`)
})

/** As an SDK does: how often it had to come. */
async function askUntilIn(kit: WorkKit, limits: Limits): Promise<number> {
  const body = { model: 'one', input: 'x'.repeat(4_000) }
  for (let tries = 1; tries <= 20; tries += 1) {
    try {
      const admission = await limits.admit(kit.charged(), 'responses', body)
      admission.settle([used])
      return tries
    } catch (error) {
      assert.ok(error instanceof Fault && error.retryAfterMs !== undefined)
      await sleep(error.retryAfterMs)
    }
  }
  return assert.fail('it is never let in')
}

test('work that is told to wait takes nothing, not even from the requests of a minute', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 1_000, requestsPerMinute: 3 })
  const limits = kit.limits()
  await work(kit, limits)
  const leave = new AbortController()
  const waiting = Array.from({ length: 20 }, () => work(kit, limits, {}, leave.signal))
  assert.ok(await becomesTrue(async () => kit.asks() >= 20, withinMs))
  leave.abort(new Error('gone'))
  for (const one of waiting) await assert.rejects(one, /gone/)
  const level = async (field: string) => (await kit.valkey.client.hgetBuffer(kit.hash, field))?.readDoubleLE(0) ?? 0
  assert.ok((await level('RPM:ones')) <= 1)
  assert.ok((await level('TPM:ones')) <= 1_000)
  assert.equal((await kit.buckets.listOpen(kit.orgId)).length, 1)
})

test('what waiting does not help is refused at once: too large, or a day that is used up', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 60_000, tokensPerDay: 60_000 })
  const limits = kit.limits()
  const large = await faultOf(work(kit, limits, { inputTokens: 60_001 }))
  assert.deepEqual([large.code, large.status, large.retryAfterMs], ['request_above_limit', 429, undefined])
  ;(await work(kit, limits, { inputTokens: 60_000 })).settle([used])
  const day = await faultOf(work(kit, limits))
  assert.equal(day.code, 'token_rate_limit_exceeded')
  assert.match(day.message, /on tokens per day \(TPD\)/)
})

test('a month that is spent refuses work as it does requests', async (t) => {
  const kit = await workKit(t, {})
  // At 4 USD a million tokens the answer alone may cost more than the 100 USD that the month has.
  const spent = await faultOf(work(kit, kit.limits(), { inputTokens: 1, outputMax: 26_000_000 }))
  assert.deepEqual([spent.code, spent.status, spent.retryAfterMs], ['insufficient_quota', 429, undefined])
})

test('a month that is only reserved is waited for until what is reserved comes back', async (t) => {
  const kit = await workKit(t, {})
  const limits = kit.limits()
  const half = { inputTokens: 1, outputMax: 13_000_000 }
  const first = await work(kit, limits, half)
  let letIn = false
  const second = work(kit, limits, half).then(() => (letIn = true))
  const asks = kit.asks()
  assert.ok(await becomesTrue(async () => kit.asks() > asks + 2, withinMs))
  assert.equal(letIn, false)
  first.settle([used])
  assert.ok(await second)
})

test('an organisation without limits is let in at once, and nothing is asked', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 1 })
  const limits = kit.limits()
  await limits.pinTier(kit.orgId, 'unlimited')
  const admission = await work(kit, limits)
  assert.deepEqual([admission.limited, kit.asks()], [false, 0])
})

test('what work used is settled, and what it did not use is given back', async (t) => {
  const kit = await workKit(t, { tokensPerDay: 1_000_000 })
  const limits = kit.limits()
  const level = async (field: string) => (await kit.valkey.client.hgetBuffer(kit.hash, field))?.readDoubleLE(0) ?? 0
  const open = async () => (await kit.buckets.listOpen(kit.orgId)).length
  const [first, second] = [await work(kit, limits), await work(kit, limits)]
  assert.equal(await open(), 2)
  first.settle([used])
  second.leave()
  assert.ok(await becomesTrue(async () => (await open()) === 0, withinMs))
  const tokens = await level('TPD:ones')
  assert.ok(tokens > 999 && tokens <= 1_000, `${tokens}`)
  const month = new Date().toISOString().slice(0, 7)
  assert.equal(await level(`spend:${month}`), 900 * 1_000 + 100 * 4_000)
})

test('what a killed process had reserved for work is given back, and its calls are in the ledger as interrupted', async (t) => {
  const kit = await workKit(t, { tokensPerDay: 1_000_000 })
  // No heartbeat: as after kill -9.
  const killed = kit.limits()
  await Promise.all([work(kit, killed), work(kit, killed)])
  for (const { id, since } of await kit.buckets.listOpen(kit.orgId)) {
    const text = (await kit.valkey.client.hget(kit.hash, `o:${id}`)) ?? ''
    await kit.valkey.client.hset(kit.hash, `o:${id}`, text.replace(/^\d+/, String((since - 16_000) * 1_000)))
  }
  const db = kit.database.as<LimitsTables>()
  const ledger = new Ledger(db, (name) => (name === testModel.id ? testModel : null))
  const swept = await sweepReservations({
    db,
    buckets: kit.buckets,
    decisions: new DecisionLog({ db, log: kit.log }),
    settlesTokens: false,
    record: async (entries) => {
      for (const entry of entries) await ledger.recordAlone(entry)
    },
    inFlight: async () => new Set(),
  })
  assert.equal(swept, 2)
  assert.deepEqual(await kit.buckets.listOpen(kit.orgId), [])
  const { rows } = await sql<{ outcome: string; operation: string }>`
    select outcome, operation from limits.usage`.execute(db.kysely)
  const cutOff = { outcome: 'interrupted', operation: 'responses' }
  assert.deepEqual(rows, [cutOff, cutOff])
})

test('without Valkey work waits for it to come back, or goes on by the share of its process', async (t) => {
  const kit = await workKit(t, { tokensPerMinute: 6_000_000 })
  let away = true
  const script: Valkey['script'] = (name, lua, reply) => {
    const run = kit.valkey.script(name, lua, reply)
    return async (keys, args) => {
      if (away) throw new CacheUnavailable('Valkey is down')
      return await run(keys, args)
    }
  }
  const valkey = { client: kit.valkey.client, call: kit.valkey.call, script } as unknown as Valkey
  const refusing = kit.limits({ valkey })
  let letIn: Admission | null = null
  const waiting = work(kit, refusing).then((admission) => (letIn = admission))
  const local = kit.limits({ valkey, withoutValkey: 'local', localShare: 0.5 })
  const began = performance.now()
  ;(await work(kit, local)).leave()
  assert.ok(performance.now() - began < withinMs)
  assert.equal(letIn, null)
  away = false
  await waiting
  assert.equal((await kit.buckets.listOpen(kit.orgId)).length, 1)
})

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket, Metric } from '../domain/buckets.ts'
import { LocalBuckets } from './local-buckets.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const org = 'org-x'

const bucket = (metric: Metric, limit: number, cost: number): Bucket => ({
  field: `${metric}:house`,
  level: 'organization',
  metric,
  limit,
  periodMs: metric.endsWith('D') ? dayMs : metric === 'spend' ? 0 : minuteMs,
  cost,
})
const request = (limit: number) => [bucket('RPM', limit, 1)]

/** Comes back when it is told to, for so long. */
function letIn(local: LocalBuckets, asked: readonly Bucket[], forMs: number): number[] {
  const at: number[] = []
  for (let now = 0; now <= forMs;) {
    const { admitted, retryAfterMs } = local.admit(org, asked, now)
    if (admitted) at.push(now)
    now += admitted ? 0 : (retryAfterMs ?? Infinity)
  }
  return at
}

test('without Valkey a process lets in its share of the limit, beginning with nothing', () => {
  const at = letIn(new LocalBuckets(0.25), request(240), minuteMs)
  // Slots are a tenth wider apart than the limit has it.
  assert.equal(at.length, 54)
  assert.equal(at[0], 1_000)
})

test('whatever is asked and whenever, a process stays within its share', () => {
  const asks = fc.array(fc.record({ afterMs: fc.nat(5_000), tokens: fc.integer({ min: 1, max: 400 }) }), {
    maxLength: 200,
  })
  fc.assert(
    fc.property(fc.double({ min: 0.05, max: 1, noNaN: true }), asks, (share, all) => {
      const local = new LocalBuckets(share)
      const limits = { RPM: 100, TPM: 10_000 }
      const seen: { now: number; tokens: number }[] = []
      let now = 0
      for (const { afterMs, tokens } of all) {
        now += afterMs
        const asked = [bucket('RPM', limits.RPM, 1), bucket('TPM', limits.TPM, tokens)]
        if (local.admit(org, asked, now).admitted) seen.push({ now, tokens })
      }
      for (const [first, { now: from }] of seen.entries()) {
        let tokens = 0
        for (const [at, one] of seen.entries()) {
          if (at < first) continue
          tokens += one.tokens
          // Nothing was left at the start: from there on only what time gives.
          const whole = (one.now - from) / minuteMs + 1
          assert.ok(at - first + 1 <= Math.floor(limits.RPM * share) * whole + 1e-6)
          assert.ok(tokens <= Math.floor(limits.TPM * share) * whole + 1e-6)
          assert.ok(at + 1 <= (Math.floor(limits.RPM * share) * one.now) / minuteMs + 1e-6)
        }
      }
    }),
  )
})

test('several who wait as they are told are all let in, one after the other', () => {
  const local = new LocalBuckets(0.5)
  const due = new Map(Array.from({ length: 10 }, (_none, client) => [client, client * 7]))
  let tries = 0
  while (due.size > 0) {
    const [client, now] = [...due].reduce((first, one) => (one[1] < first[1] ? one : first))
    const { admitted, retryAfterMs } = local.admit(org, request(120), now)
    if (admitted) due.delete(client)
    else due.set(client, now + (retryAfterMs ?? Infinity))
    tries += 1
    assert.ok(tries <= 30, `${due.size} still wait after ${tries} tries`)
  }
})

test('a request that fits the limit and not the share waits for Valkey; one above the limit need not', () => {
  const local = new LocalBuckets(0.25)
  const share = local.admit(org, [bucket('TPM', 1_000, 600)], 0)
  assert.deepEqual([share.admitted, share.retryAfterMs], [false, minuteMs])
  const above = local.admit(org, [bucket('TPM', 1_000, 1_001)], 0)
  assert.deepEqual([above.admitted, above.retryAfterMs, above.binding?.limit], [false, null, 250])
})

test('spend does not bind without Valkey, and at least one request of any limit fits', () => {
  const local = new LocalBuckets(0.1)
  const asked = [bucket('RPM', 1, 1), bucket('spend', 1, 1_000)]
  assert.deepEqual(letIn(local, asked, minuteMs), [minuteMs])
})

test('what was let in is taken along once, with the time since it began', () => {
  const local = new LocalBuckets(0.5)
  const asked = [bucket('RPM', 120, 1), bucket('RPD', 1_000, 1), bucket('spend', 1e9, 5)]
  assert.equal(local.take(org), null)
  assert.equal(local.admit(org, asked, 0).admitted, false)
  for (const now of [5_000, 6_000, 7_000]) assert.equal(local.admit(org, asked, now).admitted, true)
  const letIn = local.take(org)
  assert.ok(letIn)
  assert.equal(letIn.since, 0)
  const used = local.usedOf(letIn, 7_000)
  assert.deepEqual(
    used.map(({ field, limit, amount }) => [field, limit, Math.round(amount)]),
    [
      ['RPM:house', 120, 1],
      ['RPD:house', 1_000, 3],
    ],
  )
  assert.equal(local.take(org), null)
  local.giveBack(org, letIn)
  assert.equal(local.take(org), letIn)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { once } from 'node:events'
import { holdLease, LeaseLost } from './hold-lease.ts'

test('work learns at the next renewal that somebody else has its lease', async () => {
  let renewals = 0
  await using held = holdLease({ renew: async () => ++renewals < 3, everyMs: 5, forMs: 1_000 })
  await once(held.signal, 'abort')
  assert.equal(renewals, 3)
  assert.ok(held.signal.reason instanceof LeaseLost)
})

test('a lease that cannot be renewed counts as lost once it has run out, not at the first failure', async () => {
  const begunMs = performance.now()
  let tries = 0
  await using held = holdLease({
    renew: async () => {
      tries += 1
      throw new Error('PostgreSQL is away')
    },
    everyMs: 10,
    forMs: 120,
  })
  await once(held.signal, 'abort')
  assert.ok(tries > 1)
  assert.ok(performance.now() - begunMs >= 115)
})

test('a renewal that never comes back loses the lease in time', async () => {
  const begunMs = performance.now()
  const stuck = Promise.withResolvers<boolean>()
  const held = holdLease({ renew: () => stuck.promise, everyMs: 5, forMs: 60 })
  await once(held.signal, 'abort')
  assert.ok(performance.now() - begunMs < 1_000)
  stuck.resolve(false)
  await held[Symbol.asyncDispose]()
})

test('a lease that is renewed is kept, and work that is called off is told', async () => {
  const calledOff = new AbortController()
  let renewals = 0
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  await using held = holdLease({
    renew: async () => {
      renewals += 1
      if (renewals === 10) resolve()
      return true
    },
    everyMs: 5,
    forMs: 1_000,
    signal: calledOff.signal,
  })
  await enough
  assert.equal(held.signal.aborted, false)
  calledOff.abort()
  assert.equal(held.signal.aborted, true)
})

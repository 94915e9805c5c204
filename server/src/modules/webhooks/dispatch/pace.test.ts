import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from './pace.ts'

test('an endpoint that answers gets its full concurrency', () => {
  const pace = new Pace(16, 1)
  for (let answer = 0; answer < 20; answer += 1) assert.equal(pace.after(true), 0)
  assert.equal(pace.concurrency, 16)
})

test('an endpoint that only fails costs one slot and is tried about twice a second', () => {
  const pace = new Pace(16, 1)
  const pauses = Array.from({ length: 100 }, () => pace.after(false))
  assert.equal(pace.concurrency, 1)
  assert.equal(pauses[0], 0)
  assert.equal(pauses.at(-1), 500)
  assert.ok(pauses.every((pause, index) => pause >= (pauses[index - 1] ?? 0)))
})

test('one good answer ends the pauses', () => {
  const pace = new Pace(16, 1)
  for (let failure = 0; failure < 50; failure += 1) pace.after(false)
  assert.equal(pace.after(true), 0)
  assert.equal(pace.after(false), 0)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPools } from './pools.ts'
import { OutboundRefused } from './refused.ts'

const BUSY = (error: unknown): boolean => error instanceof OutboundRefused && error.reason === 'busy'

function pools(limits: { inFlightMax?: number; inFlightPerOriginMax?: number; idleOriginsMax?: number } = {}) {
  return createPools({ options: {}, inFlightMax: 100, inFlightPerOriginMax: 100, idleOriginsMax: 100, ...limits })
}

test('origins that nobody uses any more are forgotten, the longest unused first', async () => {
  const kept = pools({ idleOriginsMax: 2 })
  const pool = (origin: string) => {
    const place = kept.enter(origin)
    place.leave()
    return place.pool
  }
  const [a, b] = [pool('http://a.example'), pool('http://b.example')]
  assert.equal(pool('http://a.example'), a)
  for (let n = 0; n < 50; n += 1) pool(`http://${n}.example`)
  assert.equal(kept.originCount(), 2)
  assert.notEqual(pool('http://b.example'), b)
  await kept.close()
})

test('an origin in use is never forgotten', async () => {
  const kept = pools({ idleOriginsMax: 0 })
  const first = kept.enter('http://a.example')
  for (let n = 0; n < 5; n += 1) kept.enter(`http://${n}.example`).leave()
  assert.equal(kept.originCount(), 1)
  assert.equal(kept.enter('http://a.example').pool, first.pool)
  await kept.close()
})

test('places are bounded in all and per origin, and a place is given back once', async () => {
  const bounded = pools({ inFlightMax: 3, inFlightPerOriginMax: 2 })
  const first = bounded.enter('http://a.example')
  bounded.enter('http://a.example')
  assert.throws(() => bounded.enter('http://a.example'), BUSY)
  bounded.enter('http://b.example')
  assert.throws(() => bounded.enter('http://c.example'), BUSY)
  first.leave()
  first.leave()
  bounded.enter('http://c.example')
  assert.throws(() => bounded.enter('http://a.example'), BUSY)
  await bounded.close()
})

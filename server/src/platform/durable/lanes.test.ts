import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handOnMs, Lanes, lanesKept, lanesMax } from './lanes.ts'

test('one project leaves lanes for others, and a chunk is in hand once', () => {
  const lanes = new Lanes('lanes', 8)
  const own = Array.from({ length: lanesMax }, (_, n) => lanes.enter('large', `run:${n}`))
  assert.equal(own.filter((place) => place !== null).length, lanesMax - lanesKept)
  for (let n = 0; n < lanesKept; n += 1) assert.ok(lanes.enter(`small ${n}`, `other ${n}:0`))
  assert.equal(lanes.enter('late', 'late:0'), null)
  own[0]?.leave()
  assert.ok(lanes.enter('late', 'late:0'))
  assert.equal(lanes.enter('late', 'late:0'), null)
})

test('a project without a lane is made room for by the one with the most, once that had its time', () => {
  let now = 0
  const lanes = new Lanes('lanes', 8, () => now)
  const enter = (projectId: string, n: number) => {
    now += 1
    return lanes.enter(projectId, `${projectId}:${n}`)
  }
  const small = enter('small', 0)
  const large = Array.from({ length: lanesMax - lanesKept - 1 }, (_, n) => enter('large', n))
  for (let n = 0; n < lanesKept; n += 1) assert.ok(enter(`single ${n}`, 0))
  const asked = () => [small, ...large].flatMap((place, at) => (place?.handOn.aborted === true ? [at] : []))
  assert.equal(enter('late', 0), null)
  assert.deepEqual(asked(), [], 'not before its time')
  now += handOnMs
  assert.equal(enter('large', 99), null)
  assert.deepEqual(asked(), [], 'not for more of its own')
  assert.equal(enter('late', 0), null)
  assert.deepEqual(asked(), [1], 'the longest held of the project with the most')
  large[0]?.leave()
  assert.ok(enter('late', 0))
})

test('a process that ends takes nothing more', async () => {
  const lanes = new Lanes('lanes', 8)
  await lanes.part().drain?.()
  assert.equal(lanes.enter('p', 'run:0'), null)
  assert.equal(lanes.ending.aborted, true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOver } from 'node:timers/promises'
import fc from 'fast-check'
import { Lanes, lanesMax, runningMax, waitingBytesMax, waitingMax } from './lanes.ts'

const never = () => undefined

/** A turn that ends when told. */
function held(log: string[], name: string): { turn: () => Promise<void>; end: () => void } {
  const gate = Promise.withResolvers<void>()
  return {
    turn: async () => {
      log.push(`${name} begins`)
      await gate.promise
      log.push(`${name} ends`)
    },
    end: gate.resolve,
  }
}

test('turns of a lane run in order, those of another beside them', async () => {
  const lanes = new Lanes()
  const log: string[] = []
  const [a1, a2, b1] = [held(log, 'a1'), held(log, 'a2'), held(log, 'b1')]
  for (const [lane, { turn }] of [
    ['a', a1],
    ['a', a2],
    ['b', b1],
  ] as const)
    assert.equal(lanes.add(lane, turn, never, 1), null)
  assert.deepEqual(log, ['a1 begins', 'b1 begins'])
  a2.end()
  a1.end()
  b1.end()
  await lanes.idle()
  assert.deepEqual(
    log.filter((line) => line.startsWith('a')),
    ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends'],
  )
  assert.equal(lanes.running, 0)
})

test('with all places taken, the lane that waits longest is next', async () => {
  const lanes = new Lanes()
  const log: string[] = []
  const turns = Array.from({ length: runningMax + 2 }, (_none, index) => held(log, String(index)))
  turns.forEach(({ turn }, index) => lanes.add(`l${index}`, turn, never, 1))
  assert.equal(lanes.running, runningMax)
  turns[3]?.end()
  await turnOver()
  assert.equal(log.at(-1), `${runningMax} begins`)
  turns.forEach(({ end }) => end())
  await lanes.idle()
  assert.equal(log.length, 2 * turns.length)
})

test('too many lanes, events or bytes are refused, and room is made again by what ends', async () => {
  const lanes = new Lanes()
  const first = held([], 'first')
  assert.equal(lanes.add('a', first.turn, never, 1), null)
  assert.match(lanes.add('a', first.turn, never, waitingBytesMax + 1) ?? '', /bytes/)
  for (let count = 0; count < waitingMax; count += 1) assert.equal(lanes.add('a', first.turn, never, 1), null)
  assert.match(lanes.add('a', first.turn, never, 1) ?? '', /events wait/)
  first.end()
  await lanes.idle()
  assert.equal(lanes.add('a', first.turn, never, 1), null)
  await lanes.idle()

  const many = held([], 'many')
  for (let lane = 0; lane < lanesMax; lane += 1) assert.equal(lanes.add(`l${lane}`, many.turn, never, 1), null)
  assert.match(lanes.add('one more', many.turn, never, 1) ?? '', /lanes/)
  many.end()
  await lanes.idle()
})

test('what never begins is dropped, once', async () => {
  const lanes = new Lanes()
  const log: string[] = []
  const running = held(log, 'running')
  lanes.add('a', running.turn, never, 1)
  lanes.add('a', running.turn, () => log.push('dropped'), 1)
  lanes.dropWaiting()
  running.end()
  await lanes.idle()
  assert.deepEqual(log, ['running begins', 'dropped', 'running ends'])
})

test('whatever comes in whatever order, each lane is first in first out and none is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ lane: fc.nat(30), waits: fc.nat(3) }), { maxLength: 60 }), async (given) => {
      const lanes = new Lanes()
      const ran: { lane: number; index: number }[] = []
      const taken = given.flatMap(({ lane, waits }, index) => {
        const turn = async () => {
          for (let count = 0; count < waits; count += 1) await turnOver()
          ran.push({ lane, index })
        }
        return lanes.add(String(lane), turn, never, 1) === null ? [{ lane, index }] : []
      })
      await lanes.idle()
      assert.equal(ran.length, taken.length)
      for (const lane of new Set(taken.map((one) => one.lane))) {
        const order = (list: typeof ran) => list.filter((one) => one.lane === lane).map(({ index }) => index)
        assert.deepEqual(order(ran), order(taken))
      }
    }),
  )
})

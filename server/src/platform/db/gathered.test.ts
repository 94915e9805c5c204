import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Gathered } from './gathered.ts'

/** A database that answers when it is told to. */
function slowDatabase() {
  const sent: { asks: readonly number[]; answer: () => void; fail: (error: Error) => void }[] = []
  const run = (asks: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      sent.push({ asks, answer: () => resolve(asks.map((ask) => ask * 10)), fail: reject })
    })
  return { sent, run }
}

test('what is asked together goes in one statement, and each caller gets its own answer', async () => {
  const { sent, run } = slowDatabase()
  const gathered = new Gathered(run, { batchMax: 100, atOnceMax: 1 })
  const answers = Promise.all([1, 2, 3].map((ask) => gathered.ask(ask)))
  await turn()
  assert.deepEqual(
    sent.map(({ asks }) => asks),
    [[1, 2, 3]],
  )
  sent[0]?.answer()
  assert.deepEqual(await answers, [10, 20, 30])
})

test('a statement that is under way answers nobody who came after it was sent', async () => {
  const { sent, run } = slowDatabase()
  const gathered = new Gathered(run, { batchMax: 100, atOnceMax: 1 })
  const first = gathered.ask(1)
  await turn()
  const later = [gathered.ask(2), gathered.ask(3)]
  await turn()
  assert.equal(sent.length, 1)
  sent[0]?.answer()
  assert.equal(await first, 10)
  await turn()
  assert.deepEqual(sent[1]?.asks, [2, 3])
  sent[1]?.answer()
  assert.deepEqual(await Promise.all(later), [20, 30])
})

test('a statement is bounded, and so is how many are under way', async () => {
  const { sent, run } = slowDatabase()
  const gathered = new Gathered(run, { batchMax: 2, atOnceMax: 2 })
  const answers = Promise.all([1, 2, 3, 4, 5].map((ask) => gathered.ask(ask)))
  await turn()
  await turn()
  await turn()
  assert.deepEqual(
    sent.map(({ asks }) => asks),
    [
      [1, 2],
      [3, 4],
    ],
  )
  sent[0]?.answer()
  await turn()
  await turn()
  assert.deepEqual(sent[2]?.asks, [5])
  for (const { answer } of sent) answer()
  assert.deepEqual(await answers, [10, 20, 30, 40, 50])
})

test('a statement that fails has failed for everybody in it and for nobody else', async () => {
  const { sent, run } = slowDatabase()
  const gathered = new Gathered(run, { batchMax: 100, atOnceMax: 1 })
  const failed = Promise.allSettled([gathered.ask(1), gathered.ask(2)])
  await turn()
  const next = gathered.ask(3)
  sent[0]?.fail(new Error('gone'))
  assert.deepEqual(
    (await failed).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await turn()
  sent[1]?.answer()
  assert.equal(await next, 30)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnedAway } from '#platform/durable/work-rows.ts'
import { Patience, type Refused } from './patience.ts'

const refusal = new TurnedAway(undefined, new Error('Busy.'))
const row = (): Refused => ({ refusals: 0, askedSince: null, refusedSince: null })

/** The time is the test's. */
function patient(forMs: number) {
  let now = 0
  return { patience: new Patience(forMs, () => now), setTime: (ms: number) => void (now = ms) }
}

test('a row that alone is refused ends, and the run goes on', () => {
  const { patience, setTime } = patient(60_000)
  const refused = row()
  for (let tries = 1; tries <= 6; tries += 1) {
    setTime(tries * 10)
    assert.equal(patience.isOver('run', refused, refusal), tries === 6)
    setTime(tries * 10 + 1)
    patience.answered('run')
  }
})

test('rows of a provider that is away are tried again, until the run has waited long enough', () => {
  const { patience, setTime } = patient(60_000)
  setTime(1)
  patience.answered('run')
  const refused = row()
  for (let tries = 1; tries <= 20; tries += 1) {
    setTime(tries * 1_000)
    assert.equal(patience.isOver('run', refused, refusal), false)
  }
  setTime(61_000)
  assert.throws(() => patience.isOver('run', row(), refusal), { code: 'provider_unavailable', message: /Busy\./ })
})

test('an answer to another run says nothing of this one', () => {
  const { patience, setTime } = patient(1_000)
  const refused = row()
  setTime(1)
  patience.isOver('run', refused, refusal)
  setTime(2)
  patience.answered('other')
  setTime(1_001)
  assert.throws(() => patience.isOver('run', refused, refusal))
})

test('the last row of a run, refused for as long as anybody waits, ends by itself if those beside it were answered', () => {
  const { patience, setTime } = patient(1_000)
  const refused = row()
  patience.asking(refused)
  setTime(1)
  patience.answered('run')
  setTime(2)
  assert.equal(patience.isOver('run', refused, refusal), false)
  setTime(1_002)
  assert.equal(patience.isOver('run', refused, refusal), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnedAway } from '#platform/durable/work-rows.ts'
import { Patience, Refused } from './patience.ts'

const refusal = new TurnedAway(undefined, new Error('Busy.'))

/** The time is the test's. */
function patient(forMs: number) {
  let now = 0
  const patience = new Patience(forMs, () => now)
  return {
    setTime: (ms: number) => void (now = ms),
    /** A row of a run that asks somebody. */
    row(runId = 'run') {
      const refused = new Refused()
      const asking = patience.asking(runId, refused)
      const asks = (whom: string) => asking.asks(whom)
      return {
        asks,
        isRefused(whom = 'model') {
          asks(whom)
          return patience.isOver(refused, refusal)
        },
        isAnswered(whom = 'model') {
          asks(whom)
          asking.answered()
        },
      }
    },
  }
}

test('a row that alone is refused ends, and the run goes on', () => {
  const { row, setTime } = patient(60_000)
  const refused = row()
  for (let tries = 1; tries <= 6; tries += 1) {
    setTime(tries * 10)
    assert.equal(refused.isRefused(), tries === 6)
    setTime(tries * 10 + 1)
    row().isAnswered()
  }
})

test('rows of a provider that is away are tried again, until the run has waited long enough', () => {
  const { row, setTime } = patient(60_000)
  setTime(1)
  row().isAnswered()
  const refused = row()
  for (let tries = 1; tries <= 20; tries += 1) {
    setTime(tries * 1_000)
    assert.equal(refused.isRefused(), false)
  }
  setTime(61_000)
  assert.throws(() => row().isRefused(), { code: 'provider_unavailable', message: /Busy\./ })
})

test('an answer to another run, or of somebody else, says nothing of whom this one waits for', () => {
  const { row, setTime } = patient(1_000)
  const refused = row()
  for (let tries = 1; tries <= 9; tries += 1) {
    setTime(tries)
    assert.equal(refused.isRefused('model'), false)
    row('other').isAnswered('model')
    row().isAnswered('python')
  }
  setTime(1_001)
  assert.throws(() => refused.isRefused('model'))
})

test('a row that goes on elsewhere is not blamed for where it was refused before', () => {
  const { row, setTime } = patient(60_000)
  const refused = row()
  for (let tries = 1; tries <= 5; tries += 1) refused.isRefused('model')
  refused.isAnswered('model')
  setTime(1)
  row().isAnswered('python')
  assert.equal(refused.isRefused('python'), false)
})

test('two refusals far apart end no run whose rows are answered between them', () => {
  const { row, setTime } = patient(1_000)
  assert.equal(row().isRefused('python'), false)
  for (let at = 100; at < 1_200; at += 100) {
    setTime(at)
    row().isAnswered('python')
  }
  setTime(1_200)
  assert.equal(row().isRefused('python'), false)
})

test('the last row of a run, refused for as long as anybody waits, ends by itself if those beside it were answered', () => {
  const { row, setTime } = patient(1_000)
  const refused = row()
  refused.asks('model')
  setTime(1)
  row().isAnswered()
  setTime(2)
  assert.equal(refused.isRefused(), false)
  setTime(1_002)
  assert.equal(refused.isRefused(), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchemaPatience } from './schema-patience.ts'

const limits = { blamedInARowMax: 3, overdrawnMsMax: 10_000, asideMs: 60_000 }
const batch = (tookMs: number, items = 500, chars = 100_000) => ({ tookMs, items, chars })

test('a schema whose items are quick is never set aside', () => {
  const patience = new SchemaPatience(limits)
  for (let n = 0; n < 10_000; n += 1) patience.used('s', batch(n % 10 === 0 ? 1_500 : 60), n)
  assert.equal(patience.asideFor('s', 10_000), null)
})

test('items that are merely large do not count as slow', () => {
  const patience = new SchemaPatience(limits)
  for (let n = 0; n < 1_000; n += 1) patience.used('s', batch(150, 1, 1_000_000), n)
  assert.equal(patience.asideFor('s', 1_000), null)
})

test('three blamed items in a row set a schema aside for a while, and only it', () => {
  const patience = new SchemaPatience(limits)
  for (let n = 0; n < 3; n += 1) patience.blamed('s', 'too slow', 0)
  assert.equal(patience.asideFor('s', 59_999), 'too slow')
  assert.equal(patience.asideFor('other', 0), null)
  assert.equal(patience.asideFor('s', 60_000), null)
})

test('a good item between blamed ones starts the count anew', () => {
  const patience = new SchemaPatience(limits)
  for (let n = 0; n < 5; n += 1) {
    patience.blamed('s', 'too slow', 0)
    patience.blamed('s', 'too slow', 0)
    patience.used('s', batch(10), 0)
  }
  assert.equal(patience.asideFor('s', 0), null)
})

test('items that are each just quick enough still end a schema that has used too much', () => {
  const patience = new SchemaPatience(limits)
  let batches = 0
  while (patience.asideFor('s', 0) === null && batches < 100) {
    patience.used('s', batch(900, 1, 100), 0)
    batches += 1
  }
  assert.equal(batches, 12)
})

test('only so many schemas are remembered', () => {
  const patience = new SchemaPatience(limits)
  patience.setAside('first', 'too slow', 0)
  for (let n = 0; n < 1_000; n += 1) patience.used(`s${n}`, batch(1), 0)
  assert.equal(patience.asideFor('first', 0), null)
})

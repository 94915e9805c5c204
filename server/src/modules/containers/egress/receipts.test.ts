import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReceipts, RECEIPTS_MAX, type Receipt } from './receipts.ts'

const receipt = (port: number): Receipt => ({
  time: '2026-01-01T00:00:00.000Z',
  containerId: 'cntr_1',
  host: 'listed.example',
  port,
  bytesIn: 1,
  bytesOut: 2,
  verdict: 'allowed',
  reason: null,
})

test('a reader sees every receipt once, in order', () => {
  const receipts = createReceipts()
  for (let port = 0; port < 2_500; port += 1) receipts.add(receipt(port))
  const seen: number[] = []
  for (let after = 0, page = receipts.page(0); page.receipts.length > 0; page = receipts.page(after)) {
    seen.push(...page.receipts.map(({ port }) => port))
    after = page.next
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 2_500 }, (_, at) => at),
  )
  assert.deepEqual(receipts.page(2_500), { next: 2_500, receipts: [] })
})

test('the oldest go first, and a reader that was away goes on at the oldest that is left', () => {
  const receipts = createReceipts()
  for (let port = 0; port < RECEIPTS_MAX * 3 + 5; port += 1) receipts.add(receipt(port))
  assert.equal(receipts.page(0).receipts[0]?.port, RECEIPTS_MAX * 2 + 5)
  assert.equal(receipts.page(7).next, RECEIPTS_MAX * 2 + 5 + 1_000)
  assert.equal(receipts.page(10 ** 9).receipts[0]?.port, RECEIPTS_MAX * 2 + 5)
})

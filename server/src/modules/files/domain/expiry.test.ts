import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expirySeconds } from './expiry.ts'

test('a batch file expires after thirty days unless told otherwise; others never do', () => {
  assert.equal(expirySeconds('batch', undefined), 2_592_000)
  assert.equal(expirySeconds('batch', { seconds: 3_600 }), 3_600)
  assert.equal(expirySeconds('evals', undefined), null)
  assert.equal(expirySeconds('evals', { seconds: 7_200 }), 7_200)
})

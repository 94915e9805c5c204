import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { meshKey, sign, signatureAgeMs, SignatureCheck } from './signature.ts'

const key = meshKey(randomBytes(32))
const input = Buffer.from('{"containerId":"cntr_1"}')

function signed(time: number, nonce: string, by = key) {
  return { time, nonce, signature: sign(by, 'execute', input, time, nonce) }
}

test('a request of the deployment passes, once', () => {
  const check = new SignatureCheck([key], () => 1_000_000)
  const first = signed(1_000_000, 'a')
  assert.equal(check.accepts('execute', input, first), true)
  assert.equal(check.accepts('execute', input, first), false)
  assert.equal(check.accepts('execute', input, signed(1_000_000, 'b')), true)
})

test('what was changed on the way, or signed by someone else, does not pass', () => {
  const check = new SignatureCheck([key], () => 1_000_000)
  const good = signed(1_000_000, 'a')
  assert.equal(check.accepts('park', input, good), false)
  assert.equal(check.accepts('execute', Buffer.from('{"containerId":"cntr_2"}'), good), false)
  assert.equal(check.accepts('execute', input, { ...good, time: 1_000_001 }), false)
  assert.equal(check.accepts('execute', input, { ...good, nonce: 'c' }), false)
  assert.equal(check.accepts('execute', input, { ...good, signature: '' }), false)
  assert.equal(check.accepts('execute', input, signed(1_000_000, 'a', meshKey(randomBytes(32)))), false)
  assert.equal(check.accepts('execute', input, good), true)
})

test('a message that is too old or from the future does not pass, so that remembering a minute is enough', () => {
  let now = 1_000_000
  const check = new SignatureCheck([key], () => now)
  assert.equal(check.accepts('execute', input, signed(now - signatureAgeMs - 1, 'old')), false)
  assert.equal(check.accepts('execute', input, signed(now + signatureAgeMs + 1, 'new')), false)
  // The oldest that still passes cannot be sent again at any later time.
  const early = signed(now + signatureAgeMs, 'early')
  assert.equal(check.accepts('execute', input, early), true)
  for (let later = 0; later <= 3 * signatureAgeMs; later += signatureAgeMs / 4) {
    now = 1_000_000 + later
    assert.equal(check.accepts('execute', input, early), false)
    check.accepts('execute', input, signed(now, `between ${later}`))
  }
})

test('while keys are rotated, requests under either key pass', () => {
  const older = meshKey(randomBytes(32))
  const check = new SignatureCheck([key, older], () => 1_000_000)
  assert.equal(check.accepts('execute', input, signed(1_000_000, 'a')), true)
  assert.equal(check.accepts('execute', input, signed(1_000_000, 'b', older)), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { newSecret, secretHint, signatureOf, signingKey } from './signature.ts'

// S3-2.3-e S3-5.2-a
test('a signature is byte for byte that of the Standard Webhooks library', () => {
  const secret = newSecret()
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat({ max: 4_000_000_000 }), (body, id, timestamp) => {
      const theirs = new Webhook(secret).sign(id, new Date(timestamp * 1_000), body)
      assert.equal(signatureOf([signingKey(secret)], id, timestamp, body), theirs)
    }),
  )
})

test('during an overlap every secret signs, and each one alone verifies', () => {
  const secrets = [newSecret(), newSecret(), newSecret()]
  const timestamp = Math.floor(Date.now() / 1_000)
  const body = JSON.stringify({ text: 'äöü ✓' })
  const signature = signatureOf(secrets.map(signingKey), 'wh_1', timestamp, body)
  assert.match(signature, /^v1,[\w+/]{43}=( v1,[\w+/]{43}=){2}$/)
  const headers = {
    'webhook-id': 'wh_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
  for (const secret of secrets) new Webhook(secret).verify(body, headers)
  assert.throws(() => new Webhook(newSecret()).verify(body, headers))
  for (const changed of [{ 'webhook-id': 'wh_2' }, { 'webhook-timestamp': String(timestamp + 1) }])
    assert.throws(() => new Webhook(secrets[0] ?? '').verify(body, { ...headers, ...changed }))
})

test('a secret is 32 random bytes, and its hint gives away four characters', () => {
  const made = new Set(Array.from({ length: 100 }, newSecret))
  assert.equal(made.size, 100)
  for (const secret of made) {
    assert.equal(signingKey(secret).symmetricKeySize, 32)
    assert.equal(secretHint(secret), `whsec_…${secret.slice(-4)}`)
  }
})

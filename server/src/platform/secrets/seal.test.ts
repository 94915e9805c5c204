import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSealer, SealBroken } from './seal.ts'

const OLD = { id: 'old', key: randomBytes(32) }
const NEW = { id: 'new', key: randomBytes(32) }
const CONTEXT = 'webhooks.secret:we_123'

function broken(reason: SealBroken['reason']): (error: unknown) => boolean {
  return (error) => error instanceof SealBroken && error.reason === reason
}

test('what was sealed opens under its context, whatever it is', () => {
  const sealer = createSealer({ keys: [NEW] })
  const context = fc.string().filter((text) => !text.includes('\0'))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), context, (plain, id) => {
      const sealed = sealer.seal(plain, `test:${id}`)
      assert.match(sealed, /^v1\.new\.[A-Za-z0-9_-]+$/)
      assert.deepEqual(sealer.open(sealed, `test:${id}`), Buffer.from(plain))
    }),
  )
  assert.equal(sealer.open(sealer.seal('schlüssel', CONTEXT), CONTEXT).toString(), 'schlüssel')
})

test('sealing the same twice shows nothing in common', () => {
  const sealer = createSealer({ keys: [NEW] })
  const [a, b] = [1, 2].map(() => sealer.seal('the same', CONTEXT))
  assert.notEqual(a, b)
  assert.equal(sealer.seal('the same', CONTEXT).includes(Buffer.from('the same').toString('base64url')), false)
})

test('a value does not open under another context, not even of the same purpose', () => {
  const sealer = createSealer({ keys: [NEW] })
  const sealed = sealer.seal('secret', CONTEXT)
  for (const context of ['webhooks.secret:we_124', 'webhooks.secret', 'files.secret:we_123', '', `${CONTEXT} `]) {
    assert.throws(() => sealer.open(sealed, context), broken('not_authentic'), context)
  }
})

test('a changed bit anywhere is noticed', () => {
  const sealer = createSealer({ keys: [NEW] })
  const sealed = sealer.seal('secret', CONTEXT)
  const head = sealed.lastIndexOf('.') + 1
  const body = Buffer.from(sealed.slice(head), 'base64url')
  for (let bit = 0; bit < body.length * 8; bit += 1) {
    const changed = Buffer.from(body)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    assert.throws(
      () => sealer.open(sealed.slice(0, head) + changed.toString('base64url'), CONTEXT),
      broken('not_authentic'),
    )
  }
})

test('text that was never sealed is told apart from a damaged value', () => {
  const sealer = createSealer({ keys: [NEW] })
  for (const text of ['', 'v1', 'v1.new', 'v1.new.!', 'v2.new.AAAA', 'v1.new.AAAA', 'v1..AAAA', 'plain text']) {
    assert.throws(() => sealer.open(text, CONTEXT), broken('malformed'), text)
  }
})

test('after a rotation old values open, say that they need the new key, and open no more once the old key is gone', () => {
  const before = createSealer({ keys: [OLD] })
  const during = createSealer({ keys: [NEW, OLD] })
  const after = createSealer({ keys: [NEW] })
  const sealed = before.seal('secret', CONTEXT)
  assert.deepEqual(
    [before.needsReseal(sealed), during.needsReseal(sealed), during.keyIdOf(sealed)],
    [false, true, 'old'],
  )
  const again = during.seal(during.open(sealed, CONTEXT), CONTEXT)
  assert.deepEqual([during.needsReseal(again), during.keyIdOf(again)], [false, 'new'])
  assert.equal(after.open(again, CONTEXT).toString(), 'secret')
  assert.throws(() => after.open(sealed, CONTEXT), broken('unknown_key'))
})

test('a key under the id of another opens nothing', () => {
  const sealed = createSealer({ keys: [OLD] }).seal('secret', CONTEXT)
  const impostor = createSealer({ keys: [{ id: 'old', key: NEW.key }] })
  assert.throws(() => impostor.open(sealed, CONTEXT), broken('not_authentic'))
})

test('a digest matches its bytes and context only, and outlives a rotation', () => {
  const before = createSealer({ keys: [OLD] })
  const during = createSealer({ keys: [NEW, OLD] })
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (bytes, others) => {
      const digest = before.digest('http.idempotency:p1', bytes)
      assert.equal(during.digestMatches(digest, 'http.idempotency:p1', bytes), true)
      assert.equal(during.digestMatches(digest, 'http.idempotency:p2', bytes), false)
      const same = Buffer.compare(bytes, others) === 0
      assert.equal(during.digestMatches(digest, 'http.idempotency:p1', others), same)
    }),
  )
  const digest = before.digest('a:b', 'bytes')
  assert.equal(digest, before.digest('a:b', Buffer.from('bytes')))
  assert.notEqual(digest, before.digest('a', 'bbytes'))
  assert.throws(() => createSealer({ keys: [NEW] }).digestMatches(digest, 'a:b', 'bytes'), broken('unknown_key'))
})

test('ids that slip into the purpose are found out instead of filling memory', () => {
  const sealer = createSealer({ keys: [NEW] })
  assert.throws(() => {
    for (let n = 0; n < 2_000; n += 1) sealer.digest(`row-${n}`, '')
  }, /purpose, not an id/)
})

test('a sealer without a key, or with a short one, is refused at once', () => {
  assert.throws(() => createSealer({ keys: [] }))
  assert.throws(() => createSealer({ keys: [{ id: 'a', key: randomBytes(16) }] }))
})

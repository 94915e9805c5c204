import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { scrubLine, scrubText } from './scrub-line.ts'

const CANARY = 'CANARYcanary0123456789'

test('every kind of key disappears from text, whatever stands before it', () => {
  const prefixes = ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-ads-', 'sk-', 'adsk_', 'ek_', 'whsec_']
  const before = ['', ' ', '"', '\n', '\t', '\u0001', '=', '/', 'x: ', "'", '(', 'é']
  for (const prefix of prefixes) {
    for (const lead of before) {
      const line = JSON.stringify({ msg: `${lead}${prefix}${CANARY} was refused` })
      const scrubbed = scrubLine(line)
      assert.ok(!scrubbed.includes(CANARY), scrubbed)
      assert.ok(JSON.parse(scrubbed).msg.endsWith(`${prefix}…redacted was refused`), scrubbed)
    }
  }
})

test('keys in base64, with dots or with percent signs go as a whole', () => {
  const shapes = [`whsec_${CANARY}+/${CANARY}==`, `sk-proj-a1.${CANARY}_-${CANARY}`, `ek_abcdef%2B${CANARY}`]
  for (const key of shapes) assert.ok(!scrubText(`key ${key}.`).includes(CANARY), key)
})

test('words that only resemble a key stay readable', () => {
  for (const text of ['week_ending_on_friday', 'sk-proj-…', 'risk-assessment-report', 'task-forces-are-many-here']) {
    assert.equal(scrubText(text), text)
  }
})

test('bearer tokens, passwords in addresses and assigned secrets disappear', () => {
  const lines = [
    `Authorization: Bearer ${CANARY}`,
    `connect postgres://app:${CANARY}@127.0.0.1:5432/x`,
    `redis://:${CANARY}@127.0.0.1:6379`,
    `host=db password=${CANARY} port=1`,
    `GET /x?api_key=${CANARY}&a=1`,
  ]
  for (const line of lines) assert.ok(!scrubText(line).includes(CANARY), line)
})

test('a secret field is emptied at any depth, in JSON quoted inside strings too', () => {
  const values = [CANARY, [CANARY], { a: [{ b: CANARY }] }, `a"b\\${CANARY}`, `"${CANARY}`, [`]${CANARY}`, `}`]]
  const names = [
    'password',
    'Authorization',
    'set-cookie',
    'api_key',
    'apiKey',
    'domain_secrets',
    'client_secret',
    'value',
  ]
  for (const name of names) {
    for (const value of values) {
      const record: object = { a: 1, [name]: value, list: [{ [name]: value }], z: 'kept' }
      const nested = {
        msg: `sent ${JSON.stringify(record)}`,
        twice: JSON.stringify({ s: JSON.stringify(record) }),
        last: 'kept',
      }
      for (const line of [JSON.stringify(record), JSON.stringify(nested)]) {
        const scrubbed = scrubLine(line)
        assert.ok(!scrubbed.includes(CANARY), scrubbed)
        const parsed = JSON.parse(scrubbed)
        assert.equal(parsed.z ?? parsed.last, 'kept')
      }
    }
  }
})

test('an empty secret stays visible as absent', () => {
  assert.equal(scrubLine('{"password":null,"secret":false,"a":1}'), '{"password":null,"secret":false,"a":1}')
  assert.equal(scrubLine('{"password":1234,"a":1}'), '{"password":"[redacted]","a":1}')
})

test('a scrubbed line is always one JSON line and keeps what is not secret', () => {
  const name = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('value', 'password', 'secret', 'domain_secrets'))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), fc.constant(null), tie('list'), tie('record')),
    list: fc.array(tie('tree'), { maxLength: 4 }),
    record: fc.dictionary(name, tie('tree'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(tree, fc.boolean(), (value, quoted) => {
      const line = JSON.stringify({ inner: quoted ? JSON.stringify(value) : value, requestId: 'req_kept' })
      const parsed = JSON.parse(scrubLine(line))
      assert.equal(parsed.requestId, 'req_kept')
    }),
    { numRuns: 2000 },
  )
})

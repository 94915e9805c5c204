import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesSecret, replaceInHeader, replacePlaceholders } from './placeholders.ts'
import { holdSecrets, wipeSecrets } from './secrets.ts'

const held = holdSecrets([
  { domain: 'api.example', name: 'KEY', value: 'one' },
  { domain: 'API.example.', name: 'KEY_2', value: 'two' },
  { domain: 'other.example', name: 'OTHER', value: 'three' },
  { domain: 'other.example', name: 'KEY', value: 'four' },
])
const replaced = (text: string, count: number) => ({ kind: 'replaced', text, count })

test('a placeholder becomes the value of that host, and the longest name wins', () => {
  const cases: [string, string, number][] = [
    ['Bearer $KEY', 'Bearer one', 1],
    ['$KEY_2', 'two', 1],
    ['$KEY$KEY_2,$KEYS', 'onetwo,oneS', 3],
    ['$$KEY', '$one', 1],
    ['$NONE $ KEY', '$NONE $ KEY', 0],
    ['', '', 0],
  ]
  for (const [text, out, count] of cases)
    assert.deepEqual(replacePlaceholders(text, 'api.example', held), replaced(out, count))
  assert.deepEqual(replacePlaceholders('$KEY', 'other.example', held), replaced('four', 1))
})

test('a placeholder of another host is named, not replaced', () => {
  assert.deepEqual(replacePlaceholders('$KEY $OTHER', 'api.example', held), { kind: 'foreign', name: 'OTHER' })
  assert.deepEqual(replacePlaceholders('$KEY', 'third.example', held), { kind: 'foreign', name: 'KEY' })
})

test('Basic credentials are opened, and closed again only when something changed', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const [given, sent] = [basic('u:$KEY'), basic('u:one')].map((text) => text.slice(6))
  assert.deepEqual(replaceInHeader(basic('u:$KEY'), 'api.example', held), {
    ...replaced(basic('u:one'), 1),
    encoded: { sent, given },
  })
  assert.deepEqual(replaceInHeader('basic dTpw', 'api.example', held), replaced('basic dTpw', 0))
  assert.deepEqual(replaceInHeader(basic('$OTHER:x'), 'api.example', held), { kind: 'foreign', name: 'OTHER' })
  assert.deepEqual(replaceInHeader('Basic $KEY', 'api.example', held), replaced('Basic one', 1))
})

test('an address that names a secret is noticed, percent-encoded or not', () => {
  assert.equal(namesSecret('/a?k=$KEY', held), 'KEY')
  assert.equal(namesSecret('/a?k=%24OTHER', held), 'OTHER')
  assert.equal(namesSecret('/a?k=$5&KEY', held), null)
})

test('a value that no header can carry is refused without being repeated', () => {
  for (const value of ['a\nb', 'a\r\nX: y', 'a\0b', 'x'.repeat(20_000)]) {
    assert.throws(
      () => holdSecrets([{ domain: 'api.example', name: 'K', value }]),
      (error: Error) => error.message.includes('"K"') && !error.message.includes(value),
    )
  }
  assert.throws(() => holdSecrets([{ domain: '*.example', name: 'K', value: 'v' }]), /not a host name/)
})

test('values are UTF-8 on the wire, and zeros once they are wiped', () => {
  const umlaut = holdSecrets([{ domain: 'a.example', name: 'K', value: 'ü' }])
  assert.deepEqual(replacePlaceholders('$K', 'a.example', umlaut), replaced('\u00c3\u00bc', 1))
  const named = holdSecrets([{ domain: 'a.example', name: 'schlüssel', value: 'v' }])
  const text = Buffer.from('$schlüssel').toString('latin1')
  assert.deepEqual(replacePlaceholders(text, 'a.example', named), replaced('v', 1))
  wipeSecrets(umlaut)
  assert.deepEqual(umlaut[0]?.value, Buffer.alloc(2))
})

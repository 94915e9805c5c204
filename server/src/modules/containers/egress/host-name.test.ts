import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isListed, readHostName } from './host-name.ts'

test('a name is compared without case and without its last dot', () => {
  assert.equal(readHostName('API.Example.COM.'), 'api.example.com')
  assert.ok(isListed(['Api.Example.com.'], 'api.example.com'))
  assert.ok(!isListed(['example.com'], 'api.example.com'))
  assert.ok(!isListed(['api.example.com'], 'evil-api.example.com'))
})

test('an element with a star stands for sub-domains of any depth, not for the domain itself', () => {
  const list = ['*.example.com']
  for (const name of ['a.example.com', 'a.b.example.com']) assert.ok(isListed(list, name), name)
  for (const name of ['example.com', 'badexample.com', '.example.com', 'a.example.com.evil.test']) {
    assert.ok(!isListed(list, name), name)
  }
  assert.ok(!isListed([], 'example.com'))
  assert.ok(!isListed(['*'], 'example.com'))
})

test('addresses and what is no name are never read as names', () => {
  const addresses = '127.0.0.1 127.1 0x7f.1 0x7f000001 2130706433 ::1 [::1] 1.2.3.4. a.0x1'.split(' ')
  const others = [
    '',
    '.',
    'a..b',
    'a b',
    'a/b',
    'a:80',
    'a@b',
    'ä.example',
    '-a.example',
    'a-.example',
    'a\0',
    `${'a'.repeat(64)}.x`,
  ]
  for (const text of [...addresses, ...others, `${'a.'.repeat(130)}x`]) assert.equal(readHostName(text), null, text)
  for (const text of ['localhost', '_acme.example', 'xn--4ca.example', '1.example', 'a-b.example']) {
    assert.equal(readHostName(text), text)
  }
})

test('what is read once reads the same again', () => {
  fc.assert(
    fc.property(fc.domain(), (name) => {
      const read = readHostName(name)
      assert.equal(read === null ? null : readHostName(read), read)
      assert.ok(read === null || isListed([name.toUpperCase()], read))
    }),
  )
})

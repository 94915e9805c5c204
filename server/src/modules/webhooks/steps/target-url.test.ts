import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '#platform/errors/fault.ts'
import { checkTargetUrl, type TargetPolicy } from './target-url.ts'

const production: TargetPolicy = {
  httpAllowed: false,
  loopbackAllowed: false,
  rules: { httpAllowed: false, portsAllowed: [443, 80] },
}
const dev: TargetPolicy = {
  httpAllowed: false,
  loopbackAllowed: true,
  rules: { httpAllowed: true, portsAllowed: 'any', allowPrivate: 'loopback' },
}

const refuses = (text: string, policy: TargetPolicy) => {
  assert.throws(
    () => checkTargetUrl(text, policy),
    (error) => error instanceof Fault && error.code === 'invalid_value',
    text,
  )
}

test('addresses inside are refused at once, however they are written', () => {
  for (const host of [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '0.0.0.0',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '10.0.0.1',
    '192.168.1.1',
    '[fd00::1]',
    'localhost',
    'localhost.',
    'a.localhost',
    'LOCALHOST',
    '①②⑦.⓪.⓪.①',
  ]) {
    refuses(`https://${host}/`, production)
  }
})

test('a public name is taken and normalised; whether it may be reached is decided at every attempt', () => {
  assert.equal(checkTargetUrl('HTTPS://Hooks.Example.COM:443/a/../b?c', production), 'https://hooks.example.com/b?c')
  assert.equal(checkTargetUrl('http://127.0.0.1:8080/x', dev), 'http://127.0.0.1:8080/x')
  refuses('http://example.com/', dev)
  refuses('http://127.0.0.2:8080/', dev)
})

test('whatever is typed is either refused as a value or becomes an https address without user and fragment', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl({ withFragments: true, withQueryParameters: true })), (text) => {
      try {
        const url = new URL(checkTargetUrl(text, production))
        assert.deepEqual([url.protocol, url.username, url.password, url.hash], ['https:', '', '', ''])
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === 'invalid_value')
      }
    }),
  )
})

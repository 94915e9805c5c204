import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OutboundRefused, type RefusalReason } from './refused.ts'
import { parseTarget, type TargetRules } from './target.ts'

const RULES: TargetRules = { httpAllowed: true, portsAllowed: [80, 443] }

function reasonFor(url: string, rules = RULES): RefusalReason | null {
  try {
    parseTarget(url, rules)
    return null
  } catch (error) {
    assert.ok(error instanceof OutboundRefused)
    return error.reason
  }
}

test('a plain https URL passes, and http only where it is allowed', () => {
  assert.equal(reasonFor('https://example.com/hook?x=1'), null)
  assert.equal(reasonFor('http://example.com'), null)
  assert.equal(reasonFor('http://example.com', { ...RULES, httpAllowed: false }), 'scheme_not_allowed')
})

test('no scheme but http and https passes', () => {
  for (const url of [
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://example.com',
    'gopher://example.com',
    'ws://a.b',
    'x',
  ]) {
    assert.equal(reasonFor(url), 'scheme_not_allowed', url)
  }
})

test('a user name or password in a URL is refused', () => {
  for (const url of ['https://user@example.com', 'https://user:pw@example.com', 'https://:pw@example.com']) {
    assert.equal(reasonFor(url), 'userinfo_not_allowed', url)
  }
})

test('only the listed ports pass, and the default ports count as 80 and 443', () => {
  assert.equal(reasonFor('https://example.com:443/'), null)
  assert.equal(reasonFor('https://example.com:80/'), null)
  for (const port of [0, 22, 25, 8080, 65_535])
    assert.equal(reasonFor(`https://example.com:${port}/`), 'port_not_allowed')
  assert.equal(reasonFor('https://example.com:8443/', { ...RULES, portsAllowed: [8443] }), null)
  assert.equal(reasonFor('https://example.com/', { ...RULES, portsAllowed: [8443] }), 'port_not_allowed')
})

test('an address is recognised in every spelling that a URL parser accepts', () => {
  const spellings = [
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f000001',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '%31%32%37.0.0.1',
  ]
  for (const host of spellings) assert.equal(reasonFor(`http://${host}/`), 'address_not_allowed', host)
})

test('in development loopback passes and other private addresses do not', () => {
  const dev: TargetRules = { ...RULES, portsAllowed: 'any', allowPrivate: 'loopback' }
  assert.equal(reasonFor('http://127.0.0.1:9999/', dev), null)
  assert.equal(reasonFor('http://[::1]:9999/', dev), null)
  for (const host of ['10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]', '0.0.0.0']) {
    assert.equal(reasonFor(`http://${host}/`, dev), 'address_not_allowed', host)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExchangeReply } from './exchange.ts'
import { nextHop, type Hop } from './redirects.ts'
import { OutboundRefused } from './refused.ts'

const RULES = { httpAllowed: true, portsAllowed: [80, 443] }
const HOP: Hop = {
  url: new URL('https://a.example/start'),
  method: 'POST',
  headers: { Authorization: 'Bearer x', 'content-type': 'text/plain', 'x-kept': '1' },
  body: 'hello',
}

function reply(status: number, location?: string): ExchangeReply {
  const headers = location === undefined ? {} : { location }
  return { status, headers, body: Buffer.alloc(0), truncated: false, connectedAt: 0, firstByteAt: 0 }
}

test('a reply that is not a redirect leads nowhere', () => {
  for (const status of [200, 204, 300, 304, 305, 400, 500]) {
    assert.equal(nextHop(HOP, reply(status, 'https://b.example/'), RULES), null)
  }
})

test('a redirected POST becomes a GET without body, unless the status keeps the method', () => {
  for (const status of [301, 302, 303]) {
    assert.deepEqual(nextHop(HOP, reply(status, '/next'), RULES), {
      url: new URL('https://a.example/next'),
      method: 'GET',
      headers: { Authorization: 'Bearer x', 'x-kept': '1' },
      body: null,
    })
  }
  for (const status of [307, 308]) {
    assert.deepEqual(nextHop(HOP, reply(status, '/next'), RULES), { ...HOP, url: new URL('https://a.example/next') })
  }
})

test('credentials do not follow to another origin', () => {
  for (const elsewhere of ['https://b.example/', 'http://a.example/', 'https://a.example:80/']) {
    const next = nextHop({ ...HOP, headers: { ...HOP.headers, cookie: 'c' } }, reply(307, elsewhere), RULES)
    assert.deepEqual(next?.headers, { 'content-type': 'text/plain', 'x-kept': '1' })
  }
})

test('a redirect is held to the rules of the first URL and says which one it broke', () => {
  const broken: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['http://[', undefined],
    ['file:///etc/passwd', 'scheme_not_allowed'],
    ['http://127.0.0.1/', 'address_not_allowed'],
    ['https://b.example:22/', 'port_not_allowed'],
    ['https://user@b.example/', 'userinfo_not_allowed'],
  ]
  for (const [location, because] of broken) {
    assert.throws(
      () => nextHop(HOP, reply(302, location), RULES),
      (error: unknown) => {
        assert.ok(error instanceof OutboundRefused)
        assert.equal(error.reason, 'redirect_refused')
        assert.equal(error.cause instanceof OutboundRefused ? error.cause.reason : undefined, because)
        return true
      },
    )
  }
})

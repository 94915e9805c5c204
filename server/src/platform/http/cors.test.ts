import assert from 'node:assert/strict'
import { test } from 'node:test'
import { route } from './route.ts'
import { key, testServer, thing } from './testing/test-server.ts'

const routes = [route(thing({}), async () => ({}))]
const origin = 'https://app.example'
const preflight = {
  origin,
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization, x-custom',
}

const allowed = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-')).toSorted()

test('browsers are told nothing unless an origin is set', async (t) => {
  const app = await testServer(t, { routes })
  const asked = await fetch(`${app.url}/v1/things`, { method: 'OPTIONS', headers: preflight })
  assert.deepEqual([asked.status, allowed(asked.headers)], [405, []])
  const got = await fetch(`${app.url}/v1/things`, { headers: { ...key, origin } })
  assert.deepEqual([got.status, allowed(got.headers)], [200, []])
})

test('an origin that is set may call, and may read the headers that say something', async (t) => {
  const app = await testServer(t, { routes, options: { corsOrigins: [origin, 'https://other.example'] } })
  const asked = await fetch(`${app.url}/v1/things`, { method: 'OPTIONS', headers: preflight })
  assert.equal(asked.status, 204)
  assert.equal(asked.headers.get('access-control-allow-origin'), origin)
  assert.equal(asked.headers.get('access-control-allow-methods'), 'GET, POST, DELETE')
  assert.equal(asked.headers.get('access-control-allow-headers'), 'authorization, x-custom')
  assert.equal(asked.headers.get('access-control-allow-credentials'), null)
  assert.match(asked.headers.get('x-request-id') ?? '', /^req_/)
  const got = await fetch(`${app.url}/v1/things`, { headers: { ...key, origin } })
  assert.equal(got.headers.get('access-control-allow-origin'), origin)
  assert.equal(got.headers.get('vary'), 'origin')
  const exposed = got.headers.get('access-control-expose-headers')?.split(', ') ?? []
  for (const name of [
    'x-request-id',
    'openai-processing-ms',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
    'x-ratelimit-remaining-tokens',
  ]) {
    assert.ok(exposed.includes(name), name)
  }
})

test('a fault can be read from the browser too', async (t) => {
  const app = await testServer(t, { routes, options: { corsOrigins: [origin] } })
  for (const [path, headers, status] of [
    ['/v1/things', {}, 401],
    ['/v1/nothing', key, 404],
  ] as const) {
    const reply = await fetch(`${app.url}${path}`, { headers: { ...headers, origin } })
    assert.deepEqual([reply.status, reply.headers.get('access-control-allow-origin')], [status, origin])
  }
})

test('another origin is told nothing, and caches keep the two apart', async (t) => {
  const app = await testServer(t, { routes, options: { corsOrigins: [origin] } })
  const reply = await fetch(`${app.url}/v1/things`, { headers: { ...key, origin: 'https://evil.example' } })
  assert.deepEqual([allowed(reply.headers), reply.headers.get('vary')], [[], 'origin'])
})

test('a star allows every origin', async (t) => {
  const app = await testServer(t, { routes, options: { corsOrigins: ['*'] } })
  const reply = await fetch(`${app.url}/v1/things`, { headers: { ...key, origin: 'https://any.example' } })
  assert.equal(reply.headers.get('access-control-allow-origin'), 'https://any.example')
})

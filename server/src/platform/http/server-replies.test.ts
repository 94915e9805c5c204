import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { route } from './route.ts'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { key, testServer, thing, type TestServer } from './testing/test-server.ts'

const get = thing({
  id: 'things.get',
  path: '/v1/things/{thing_id}',
  params: z.strictObject({ thing_id: z.string().max(30) }),
})
const create = thing({ id: 'things.create', method: 'POST', body: z.strictObject({ name: z.string() }) })
const remove = thing({
  id: 'things.delete',
  method: 'DELETE',
  path: '/v1/things/{thing_id}',
  params: z.strictObject({ thing_id: z.string() }),
})
const cancel = thing({
  id: 'things.cancel',
  method: 'POST',
  path: '/v1/things/{thing_id}/cancel',
  bodyOptional: true,
  body: z.strictObject({ reason: z.string().optional() }),
})
const read = thing({ id: 'things.read', path: '/v1/read', scope: 'things.read' })
const admin = thing({ id: 'things.admin', path: '/v1/organization/things', auth: 'admin_key' })

const routes = [
  route(get, async ({ params }) => ({ id: params.thing_id })),
  route(create, async ({ body }) => ({ name: body.name })),
  route(remove, async ({ params }) => ({ deleted: params.thing_id })),
  route(cancel, async ({ body }) => ({ cancelled: body })),
  route(read, async () => ({})),
  route(admin, async () => ({})),
]

interface Got {
  status: number
  headers: Headers
  body: Record<string, unknown>
  error: ErrorBody['error']
}

async function call(
  app: TestServer,
  line: string,
  init: { headers?: Record<string, string>; body?: string } = {},
): Promise<Got> {
  const [method = '', path = ''] = line.split(' ')
  const reply = await fetch(`${app.url}${path}`, { method, headers: key, ...init })
  const text = await reply.text()
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
  return { status: reply.status, headers: reply.headers, body, error: body['error'] as ErrorBody['error'] }
}

const json = { ...key, 'content-type': 'application/json' }
const requestId = /^req_[0-9a-f]{32}$/

test('a success carries its id, its version and how long it took', async (t) => {
  const app = await testServer(t, { routes })
  const reply = await call(app, 'GET /v1/things/a')
  assert.deepEqual([reply.status, reply.body], [200, { id: 'a' }])
  assert.match(reply.headers.get('x-request-id') ?? '', requestId)
  assert.match(reply.headers.get('openai-processing-ms') ?? '', /^\d+$/)
  assert.equal(reply.headers.get('openai-version'), '2020-10-01')
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
})

test('every reply has a request id, whatever it says', async (t) => {
  const app = await testServer(t, { routes, options: { bodyBytesMax: 1_000 } })
  const asked = [
    await call(app, 'GET /v1/nothing'),
    await call(app, 'POST /v1/read'),
    await call(app, 'POST /v1/things', { headers: json, body: 'x'.repeat(2_000) }),
    await call(app, 'POST /v1/things', { headers: json, body: '{' }),
    await call(app, 'GET /v1/read', { headers: {} }),
    await call(app, 'GET /v1/things/%zz'),
    await call(app, `GET /v1/things/${'x'.repeat(500)}`),
    await call(app, 'POST /v1/things', { headers: { ...key, 'content-type': 'text/plain' }, body: 'x' }),
  ]
  assert.deepEqual(
    asked.map(({ status, error }) => [status, error.code]),
    [
      [404, 'not_found'],
      [405, 'method_not_allowed'],
      [413, 'request_too_large'],
      [400, 'invalid_json'],
      [401, null],
      [404, 'not_found'],
      [404, 'not_found'],
      [415, 'unsupported_media_type'],
    ],
  )
  const ids = asked.map(({ headers }) => headers.get('x-request-id') ?? '')
  for (const id of ids) assert.match(id, requestId)
  assert.equal(new Set(ids).size, ids.length)
})

test('without a good key of the right kind nothing is answered', async (t) => {
  const app = await testServer(t, { routes })
  const as = async (authorization: string, path = '/v1/read') => {
    const { status, error } = await call(app, `GET ${path}`, { headers: { authorization } })
    return [status, error.code, error.type]
  }
  assert.deepEqual(await as(''), [401, null, 'invalid_request_error'])
  for (const bad of [
    'Bearer',
    'Bearer nope',
    'Basic abc',
    'sk-proj-good',
    `Bearer ${'x'.repeat(500)}`,
    'Bearer sk-proj-good x',
  ]) {
    assert.deepEqual(await as(bad), [401, 'invalid_api_key', 'invalid_request_error'], bad)
  }
  assert.deepEqual(await as('Bearer sk-admin-good'), [401, 'invalid_api_key', 'invalid_request_error'])
  assert.deepEqual(await as('Bearer adsk_good'), [401, 'invalid_api_key', 'invalid_request_error'])
  assert.deepEqual(await as('Bearer sk-proj-good', '/v1/organization/things'), [
    401,
    'invalid_api_key',
    'invalid_request_error',
  ])
  assert.equal((await call(app, 'GET /v1/read', { headers: { authorization: 'bearer   sk-proj-good' } })).status, 200)
})

test('a header that names another organisation or project is refused', async (t) => {
  const app = await testServer(t, { routes })
  const as = async (headers: Record<string, string>) => {
    const { status, error } = await call(app, 'GET /v1/read', { headers: { ...key, ...headers } })
    return [status, error?.code]
  }
  assert.deepEqual(await as({ 'openai-organization': 'org-1', 'openai-project': 'proj_1' }), [200, undefined])
  assert.deepEqual(await as({ 'openai-organization': 'org-2' }), [401, 'mismatched_organization'])
  assert.deepEqual(await as({ 'openai-project': 'proj_2' }), [401, 'mismatched_project'])
  assert.deepEqual(await as({ 'openai-organization': '', 'openai-project': '' }), [200, undefined])
})

test('a key without the scope learns which one it lacks', async (t) => {
  const app = await testServer(t, { routes })
  const headers = { authorization: 'Bearer sk-proj-narrow' }
  assert.equal((await call(app, 'GET /v1/read', { headers })).status, 200)
  const { status, error } = await call(app, 'GET /v1/things/a', { headers })
  assert.deepEqual([status, error.type, error.code], [403, 'permission_error', 'insufficient_permissions'])
  assert.match(error.message, /things\.write/)
})

test('a path that exists with other methods says which', async (t) => {
  const app = await testServer(t, { routes })
  for (const method of ['PUT', 'PATCH', 'OPTIONS', 'POST']) {
    const reply = await call(app, `${method} /v1/things/a`)
    assert.deepEqual(
      [reply.status, reply.error.code, reply.headers.get('allow')],
      [405, 'method_not_allowed', 'GET, DELETE'],
    )
  }
  const head = await fetch(`${app.url}/v1/things/a`, { method: 'HEAD', headers: key })
  assert.deepEqual([head.status, head.headers.get('allow'), await head.text()], [405, 'GET, DELETE', ''])
  for (const path of [
    '/',
    '/v1',
    '/v1/things/a/b',
    '/v1/things/',
    '//v1/things',
    '/V1/read',
    '/v1/read/',
    '/v1/read;x',
  ]) {
    assert.deepEqual([(await call(app, `GET ${path}`)).status], [404], path)
  }
})

test('an unknown path is an unknown path, whatever is sent to it', async (t) => {
  const app = await testServer(t, { routes, options: { bodyBytesMax: 1_000 } })
  for (const [type, body] of [
    ['application/json', '{'],
    ['text/plain', 'x'],
    ['application/json', 'x'.repeat(2_000)],
  ] as const) {
    assert.equal((await call(app, 'POST /v1/nothing', { headers: { 'content-type': type }, body })).status, 404)
  }
})

test('an id that cannot exist is not found', async (t) => {
  const app = await testServer(t, { routes })
  for (const id of ['%00', 'a%00b', 'x'.repeat(31), 'x'.repeat(129)]) {
    const { status, error } = await call(app, `GET /v1/things/${id}`)
    assert.deepEqual([status, error.code], [404, 'not_found'], id)
  }
})

test('unknown fields, parameters and bodies are refused by name', async (t) => {
  const app = await testServer(t, { routes })
  const refused = async (line: string, init: { headers?: Record<string, string>; body?: string } = {}) => {
    const { status, error } = await call(app, line, init)
    return [status, error.code, error.param]
  }
  assert.deepEqual(await refused('GET /v1/read?limit=1'), [400, 'unknown_parameter', 'limit'])
  assert.deepEqual(await refused('POST /v1/things', { headers: json, body: '{"name":"a","color":1}' }), [
    400,
    'unknown_parameter',
    'color',
  ])
  assert.deepEqual(await refused('DELETE /v1/things/a', { headers: json, body: '{"force":true}' }), [
    400,
    'unknown_parameter',
    'force',
  ])
  assert.deepEqual(await refused('DELETE /v1/things/a', { headers: json, body: '[1]' }), [400, 'invalid_type', null])
  assert.deepEqual(await refused('POST /v1/things', { headers: json, body: '{}' }), [
    400,
    'missing_required_parameter',
    'name',
  ])
  assert.deepEqual(await refused('POST /v1/things', { headers: json, body: 'null' }), [400, 'invalid_type', null])
  assert.deepEqual(await refused('POST /v1/things'), [400, 'invalid_json', null])
})

test('an operation with no or an optional body takes none, with or without a type, and {}', async (t) => {
  const app = await testServer(t, { routes })
  for (const line of ['GET /v1/things/a', 'DELETE /v1/things/a', 'POST /v1/things/a/cancel']) {
    assert.equal((await call(app, line)).status, 200, line)
    assert.equal((await call(app, line, { headers: json })).status, 200, `${line} with a type`)
    assert.equal(
      (await call(app, line, { headers: { ...key, 'content-type': 'text/plain' } })).status,
      200,
      `${line} with any type`,
    )
    if (!line.startsWith('GET'))
      assert.equal((await call(app, line, { headers: json, body: '{}' })).status, 200, `${line} with {}`)
  }
  assert.deepEqual((await call(app, 'POST /v1/things/a/cancel')).body, { cancelled: {} })
})

test('a body on a GET is as strict as any other', async (t) => {
  const app = await testServer(t, { routes, options: { bodyBytesMax: 1_000 } })
  const send = async (body: string, type = 'application/json') => {
    const headers = { 'content-type': type, 'content-length': String(body.length) }
    const client = new RawClient(app.port).write(request('GET /v1/read', headers, body))
    const reply = await client.reply()
    client.close()
    return [reply.status, (JSON.parse(reply.body) as Partial<ErrorBody>).error?.code]
  }
  assert.deepEqual(await send('{}'), [200, undefined])
  assert.deepEqual(await send('{"a":1}'), [400, 'unknown_parameter'])
  assert.deepEqual(await send('{'), [400, 'invalid_json'])
  assert.deepEqual(await send('x', 'text/plain'), [415, 'unsupported_media_type'])
  assert.deepEqual(await send('x'.repeat(1_001)), [413, 'request_too_large'])
})

test('a body is bounded by what is announced and by what arrives', async (t) => {
  const app = await testServer(t, { routes, options: { bodyBytesMax: 1_000 } })
  const large = JSON.stringify({ name: 'x'.repeat(5_000_000) })
  for (let round = 0; round < 5; round += 1) {
    const announced = await call(app, 'POST /v1/things', { headers: json, body: large })
    assert.deepEqual([announced.status, announced.error.code], [413, 'request_too_large'])
  }
  const client = new RawClient(app.port)
  client.write(request('POST /v1/things', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }))
  for (let sent = 0; sent < 20 && !client.ended; sent += 1) client.write(`186a0\r\n${'x'.repeat(100_000)}\r\n`)
  const reply = await client.reply()
  assert.deepEqual([reply.status, reply.headers['connection']], [413, 'close'])
  client.close()
})

test('a body that is encoded is refused, not misread', async (t) => {
  const app = await testServer(t, { routes })
  const reply = await call(app, 'POST /v1/things', { headers: { ...json, 'content-encoding': 'gzip' }, body: 'x' })
  assert.equal(reply.status, 415)
})

test('conflicts that cannot be retried say so, and outages say when to come back', async (t) => {
  const lost = Object.assign(new Error('terminating connection'), { code: '57P01' })
  const failing = (path: string, error: Error) =>
    route(thing({ path }), async () => {
      throw error
    })
  const app = await testServer(t, {
    routes: [
      failing('/v1/exists', new Fault('already_exists', 'It is there.')),
      failing('/v1/in-use', new Fault('idempotency_key_in_use', 'Later.', { retryAfterMs: 1_500 })),
      failing('/v1/lost', new Error('could not load', { cause: lost })),
      failing('/v1/not-yet', new Fault('not_implemented', 'Not here.')),
    ],
  })
  const heads = async (path: string) => {
    const { status, headers, error } = await call(app, `GET ${path}`)
    return [
      status,
      error.code,
      headers.get('x-should-retry'),
      headers.get('retry-after'),
      headers.get('retry-after-ms'),
    ]
  }
  assert.deepEqual(await heads('/v1/exists'), [409, 'already_exists', 'false', null, null])
  assert.deepEqual(await heads('/v1/in-use'), [409, 'idempotency_key_in_use', null, '2', '1500'])
  assert.deepEqual(await heads('/v1/lost'), [503, 'server_overloaded', null, '1', '1000'])
  assert.deepEqual(await heads('/v1/not-yet'), [501, 'not_implemented', 'false', null, null])
})

test('a bug is answered with the request id alone, and the log has the whole chain', async (t) => {
  const cause = new TypeError('secret inner detail')
  const app = await testServer(t, {
    routes: [
      route(thing({}), async () => {
        throw new Error('select * from secret_table', { cause })
      }),
    ],
  })
  const { status, body, error, headers } = await call(app, 'GET /v1/things')
  assert.deepEqual([status, error.code, error.type, error.param], [500, 'internal_error', 'server_error', null])
  assert.doesNotMatch(JSON.stringify(body), /secret|select|at |TypeError/)
  const id = headers.get('x-request-id') ?? ''
  assert.ok(error.message.includes(id))
  const line = (await app.lines()).find(({ level }) => level === 'error')
  assert.equal(line?.['requestId'], id)
  assert.match(JSON.stringify(line), /secret_table.*secret inner detail/)
})

test('a reply that breaks the contract is noticed where replies are checked', async (t) => {
  const routes = [route(thing({ reply: z.strictObject({ a: z.string() }) }), async () => ({ a: 1 }) as never)]
  assert.equal((await call(await testServer(t, { routes }), 'GET /v1/things')).status, 500)
  const unchecked = await testServer(t, { routes, checkReplies: false })
  assert.deepEqual((await call(unchecked, 'GET /v1/things')).body, { a: 1 })
})

test('the log has one line a request, and no secret in it', async (t) => {
  const app = await testServer(t, { routes })
  await call(app, 'GET /v1/things/thing-1?x=sk-proj-good')
  await call(app, 'POST /v1/things', { headers: json, body: '{"name":"very private"}' })
  const lines = await app.lines()
  assert.deepEqual(
    lines.map(({ operation, status, keyId, msg, level }) => ({ operation, status, keyId, msg, level })),
    [
      { operation: 'things.get', status: 400, keyId: 'key_1', msg: 'request', level: 'info' },
      { operation: 'things.create', status: 200, keyId: 'key_1', msg: 'request', level: 'info' },
    ],
  )
  assert.match(String(lines[0]?.['requestId']), requestId)
  assert.ok(Number(lines[0]?.['ms']) >= 0)
  assert.doesNotMatch(JSON.stringify(lines), /sk-proj|private|thing-1/)
  assert.deepEqual(app.observed, [
    { operation: 'things.get', status: 400 },
    { operation: 'things.create', status: 200 },
  ])
})

test('the signal of a request aborts when its client leaves, and not otherwise', async (t) => {
  const seen: AbortSignal[] = []
  const app = await testServer(t, {
    routes: [
      route(thing({}), async ({ request: facts }) => {
        seen.push(facts.signal)
        return {}
      }),
      route(thing({ path: '/v1/wait' }), async ({ request: facts }) => {
        seen.push(facts.signal)
        await new Promise<void>((resolve) => facts.signal.addEventListener('abort', () => resolve()))
        return {}
      }),
    ],
  })
  await call(app, 'GET /v1/things')
  const client = new RawClient(app.port).write(request('GET /v1/wait'))
  await until('the request to arrive', () => seen.length === 2)
  client.close()
  await until('the signal to abort', () => seen[1]?.aborted === true)
  assert.deepEqual(
    seen.map(({ aborted }) => aborted),
    [false, true],
  )
})

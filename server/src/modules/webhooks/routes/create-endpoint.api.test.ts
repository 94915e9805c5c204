import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWebhookEndpoint, retrieveWebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { databaseText } from '../testing/database-text.ts'

const production = { SWITCHYARD_OUTBOUND_LOOPBACK_ALLOWED: 'false', SWITCHYARD_OUTBOUND_HOSTS: '' }
const body = { name: 'Receiver', url: 'https://hooks.example.com/in', event_types: ['response.completed'] }
const create = (app: TestApp, change: Record<string, unknown>, headers: Record<string, string> = {}) =>
  app.call(createWebhookEndpoint, { body: { ...body, ...change }, headers })

// S3-2.1-a S3-2.1-b S3-2.1-d
test('an endpoint has a name, an address and one or more event types, and belongs to a project', async (t) => {
  const app = await testApp(t, production)
  const types = ['response.completed', 'batch.failed', 'response.completed']
  const { status, body: made, text } = await create(app, { event_types: types })
  assert.equal(status, 200, text)
  const { id, created_at: createdAt, updated_at: updatedAt, signing_secret: secret, secrets, ...rest } = made
  assert.match(id, /^whe_[0-9a-z]{26}$/)
  assert.ok(Math.abs(createdAt - Date.now() / 1_000) < 60)
  assert.equal(updatedAt, createdAt)
  assert.deepEqual(rest, {
    object: 'webhook_endpoint',
    name: 'Receiver',
    url: 'https://hooks.example.com/in',
    event_types: ['response.completed', 'batch.failed'],
    signing_secret_hint: `whsec_…${secret.slice(-4)}`,
    status: 'active',
    disabled_reason: null,
    failing_since: null,
  })
  assert.deepEqual(
    secrets.map(({ hint, active_until: until }) => ({ hint, until })),
    [{ hint: rest.signing_secret_hint, until: null }],
  )
  const elsewhere = { params: { webhook_endpoint_id: id }, key: app.other.key }
  assert.equal((await app.call(retrieveWebhookEndpoint, elsewhere)).status, 404)
})

// S3-2.1-e
test('the signing secret is shown once and is in clear neither in the database nor in the log', async (t) => {
  const app = await testApp(t, production)
  const { body: made, text } = await create(app, {}, { 'idempotency-key': 'once' })
  assert.match(made.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const again = await create(app, {}, { 'idempotency-key': 'once' })
  assert.equal(again.text, text, 'asking again with the same key gives the same secret')
  const read = await app.call(retrieveWebhookEndpoint, { params: { webhook_endpoint_id: made.id } })
  assert.ok(!('signing_secret' in read.body))
  const bytes = Buffer.from(made.signing_secret.slice('whsec_'.length), 'base64')
  const forms = [made.signing_secret.slice('whsec_'.length), bytes.toString('hex'), bytes.toString('base64url')]
  for (const place of [await databaseText(app.db), await app.log(), read.text]) {
    for (const form of forms) assert.ok(!place.includes(form))
  }
})

const unlawful: [url: string, message: RegExp][] = [
  ['nonsense', /not a valid address/],
  ['https://', /not a valid address/],
  ['http://hooks.example.com/', /https/],
  ['http://127.0.0.1/', /https/],
  ['ftp://hooks.example.com/', /https/],
  ['https://user@hooks.example.com/', /user name/],
  ['https://:secret@hooks.example.com/', /user name/],
  ['https://hooks.example.com/#part', /fragment/],
  ['https://hooks.example.com:22/', /Port 22/],
]

// S3-2.1-c
test('an address must be public https without user name or fragment', async (t) => {
  const app = await testApp(t, production)
  for (const [url, message] of unlawful) {
    const { status, error } = await create(app, { url })
    assert.deepEqual([status, error.code, error.param], [400, 'invalid_value', 'url'], url)
    assert.match(error.message, message)
  }
  const long = `https://hooks.example.com/${'x'.repeat(2_048)}`
  assert.equal((await create(app, { url: long })).error.code, 'string_above_max_length')
  for (const url of ['https://hooks.example.com/a?b=c', 'https://hooks.example.com:443/', 'https://8.8.8.8/']) {
    assert.equal((await create(app, { url })).status, 200, url)
  }
})

test('http is for this machine and only where the operator allows it, or for all where http is allowed', async (t) => {
  const dev = await testApp(t, { SWITCHYARD_OUTBOUND_HOSTS: '' })
  for (const url of ['http://127.0.0.1:8080/', 'http://localhost:1/', 'http://[::1]:9999/x'])
    assert.equal((await create(dev, { url })).status, 200, url)
  for (const url of ['http://hooks.example.com/', 'http://10.0.0.1/', 'https://10.0.0.1/'])
    assert.equal((await create(dev, { url })).error.param, 'url', url)
  const open = await testApp(t, { ...production, SWITCHYARD_WEBHOOKS_HTTP_ALLOWED: 'true' })
  assert.equal((await create(open, { url: 'http://hooks.example.com/' })).status, 200)
  assert.equal((await create(open, { url: 'http://127.0.0.1/' })).status, 400)
})

test('where the operator names the hosts, no other can be given', async (t) => {
  const app = await testApp(t, { ...production, SWITCHYARD_OUTBOUND_HOSTS: 'hooks.example.com' })
  assert.equal((await create(app, {})).status, 200)
  const { status, error } = await create(app, { url: 'https://other.example.com/' })
  assert.deepEqual([status, error.param], [400, 'url'])
})

test('event types are at least one, at most a hundred, and known', async (t) => {
  const app = await testApp(t, production)
  const refusal = async (types: unknown) => {
    const { status, error } = await create(app, { event_types: types })
    return [status, error.code, error.param]
  }
  assert.deepEqual(await refusal([]), [400, 'array_below_min_length', 'event_types'])
  assert.deepEqual(await refusal(Array.from({ length: 101 }, () => 'response.completed')), [
    400,
    'array_above_max_length',
    'event_types',
  ])
  assert.deepEqual(await refusal(['response.completed', 'response.done']), [400, 'invalid_value', 'event_types[1]'])
  assert.deepEqual(await refusal('response.completed'), [400, 'invalid_type', 'event_types'])
  for (const missing of ['name', 'url', 'event_types']) {
    const { status, error } = await create(app, { [missing]: undefined })
    assert.deepEqual([status, error.code, error.param], [400, 'missing_required_parameter', missing])
  }
  assert.equal((await create(app, { name: '' })).error.code, 'string_below_min_length')
  assert.equal((await create(app, { name: 'x'.repeat(257) })).error.code, 'string_above_max_length')
})

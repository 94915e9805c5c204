import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadRequestError, NotFoundError, OpenAI } from 'openai'
import { Client } from 'pg'
import { Webhook } from 'standardwebhooks'
import { openSink, type Received } from '#modules/webhooks/testing/sink.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { startExampleReceiver } from './testing/example-receiver.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()
const BOUND_MS = 30_000

async function inDatabase(text: string, values: unknown[]): Promise<void> {
  const client = new Client({ connectionString: stack().stack.env['SWITCHYARD_POSTGRES_URL'] })
  await client.connect()
  try {
    await client.query(text, values)
  } finally {
    await client.end()
  }
}

// S3-1.2-f S3-2.1-a S3-9.2-k
test('the SDK makes, lists, reads, changes and deletes endpoints, and lists the event types', async () => {
  const client = (await stack().newProject('endpoints')).client()
  const { data: types } = await client.webhooks.eventTypes.list()
  assert.ok(types.includes('response.completed') && types.includes('realtime.call.incoming'))
  const made = await client.webhooks.create({
    name: 'First',
    url: 'http://127.0.0.1:1/hook',
    event_types: ['response.completed'],
  })
  assert.match(made.signing_secret, /^whsec_/)
  const { signing_secret: _shownOnce, ...rest } = made
  assert.deepEqual(await client.webhooks.retrieve(made.id), rest)
  for (const name of ['Second', 'Third'])
    await client.webhooks.create({ name, url: 'http://127.0.0.1:1/', event_types: ['batch.failed'] })
  const names: string[] = []
  for await (const endpoint of client.webhooks.list({ limit: 2 })) names.push(endpoint.name)
  assert.deepEqual(names, ['Third', 'Second', 'First'])
  const changed = await client.webhooks.update(made.id, { name: 'Renamed', event_types: ['batch.completed'] })
  assert.deepEqual([changed.name, changed.event_types, changed.url], ['Renamed', ['batch.completed'], made.url])
  assert.deepEqual(await client.webhooks.delete(made.id), {
    id: made.id,
    object: 'webhook_endpoint.deleted',
    deleted: true,
  })
  await assert.rejects(async () => await client.webhooks.retrieve(made.id), NotFoundError)
})

async function accepts(secret: string, { body, headers }: Received): Promise<boolean> {
  const sdk = await new OpenAI({ apiKey: 'x' }).webhooks.unwrap(body, headers, secret).then(
    () => true,
    () => false,
  )
  let standard = true
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
  } catch {
    standard = false
  }
  assert.equal(sdk, standard, 'the SDK and the standard library agree')
  return sdk
}

// S3-2.1-f S3-5.2-a S3-5.3 S3-6-i
test('what arrives verifies with old and new secret during an overlap, and with the new one alone after', async (t) => {
  const sink = await openSink()
  t.after(() => sink.close())
  const client = stack().project()
  const { id, signing_secret: old } = await client.webhooks.create({
    name: 'Rotating',
    url: `${sink.url}/hook`,
    event_types: ['response.completed'],
  })
  const send = async (): Promise<Received> => {
    const result = await client.webhooks.test(id, { event_type: 'response.completed' })
    assert.deepEqual([result.status_code, result.success], [200, true])
    const received = sink.received.at(-1)
    assert.ok(received !== undefined)
    return received
  }
  assert.equal(await accepts(old, await send()), true)
  const { signing_secret: fresh } = await client.webhooks.rotateSecret(id, {
    keep_old_secret_active_for_24_hours: true,
  })
  assert.notEqual(fresh, old)
  const both = await send()
  assert.deepEqual([await accepts(old, both), await accepts(fresh, both)], [true, true])
  await inDatabase(
    'update webhooks.secret set active_until = clock_timestamp() where endpoint_id = $1 and active_until is not null',
    [id],
  )
  const after = await send()
  assert.deepEqual([await accepts(old, after), await accepts(fresh, after)], [false, true])
  const { signing_secret: last } = await client.webhooks.rotateSecret(id)
  const alone = await send()
  assert.deepEqual([await accepts(fresh, alone), await accepts(last, alone)], [false, true])
})

test('a test of an endpoint that nobody answers at is an error that names the cause', async () => {
  const client = stack().project()
  const { id } = await client.webhooks.create({
    name: 'Nobody',
    url: 'http://127.0.0.1:1/',
    event_types: ['response.completed'],
  })
  await assert.rejects(
    async () => await client.webhooks.test(id, { event_type: 'response.completed' }),
    (error) => error instanceof BadRequestError && error.code === 'webhook_test_failed',
  )
})

// S3-4.4-a S3-4.4-b S3-5.2-b S3-5.4 S3-6-h
test('the receiver of the guide verifies, answers, works once an event, and gives 400 to what is not ours', async (t) => {
  const client = stack().project()
  const { id, signing_secret: secret } = await client.webhooks.create({
    name: 'Guide',
    url: 'http://127.0.0.1:1/',
    event_types: ['response.completed'],
  })
  const receiver = await startExampleReceiver(secret)
  t.after(() => receiver.stop())
  await client.webhooks.update(id, { url: receiver.url })
  assert.equal((await client.webhooks.test(id, { event_type: 'response.completed' })).status_code, 204)
  assert.ok(await becomesTrue(() => receiver.worked().length === 1, BOUND_MS))
  assert.match(receiver.worked()[0] ?? '', /^response\.completed {"id":"resp_/)
  const body = JSON.stringify({ id: 'evt_1', object: 'event', type: 'batch.failed', created_at: 1, data: { id: 'b' } })
  const post = async (signer: string) => {
    const at = new Date()
    const headers = {
      'webhook-id': 'wh_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(signer).sign('wh_1', at, body),
    }
    return (await fetch(receiver.url, { method: 'POST', headers, body })).status
  }
  assert.equal(await post(`whsec_${Buffer.alloc(32).toString('base64')}`), 400)
  assert.equal((await fetch(receiver.url, { method: 'POST', body })).status, 400)
  assert.deepEqual([await post(secret), await post(secret)], [204, 204])
  assert.ok(await becomesTrue(() => receiver.worked().length === 2, BOUND_MS))
  assert.deepEqual(receiver.worked().slice(1), ['batch.failed {"id":"b"}'])
})

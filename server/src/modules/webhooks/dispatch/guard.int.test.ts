import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createWebhookEndpoint, retrieveWebhookDelivery } from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { createOutbound } from '#platform/outbound/client.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { deliveryId } from '../domain/delivery-id.ts'
import { createWebhooks } from '../module.ts'
import { openCapture } from '../testing/capture.ts'
import { openSink } from '../testing/sink.ts'

const boundMs = 30_000

/** Stands for everything private: whoever connects is counted, on every address of this machine that could be reached. */
async function openTrap(t: TestContext): Promise<{ port: number; untouched: () => Promise<void> }> {
  let accepted = 0
  const listen = async (host: string, port: number): Promise<Server> => {
    const server = createServer((socket) => {
      accepted += 1
      socket.destroy()
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
    t.after(() => server.close())
    return server
  }
  const first = await listen('127.0.0.2', 0)
  const { port } = first.address() as AddressInfo
  await listen('127.0.0.1', port)
  await listen('::1', port).catch(() => t.diagnostic('no IPv6 on this machine'))
  const capture = await openCapture(port)
  t.after(() => capture?.end())
  return {
    port,
    async untouched() {
      assert.equal(accepted, 0, 'not one connection was opened')
      if (capture === null) return t.diagnostic('no tcpdump here: connections were counted, packets were not')
      assert.equal(capture.packets, 0, 'not one packet was sent')
      assert.ok(await capture.seesOwn(), 'the capture sees what the test itself sends')
    },
  }
}

/** Addresses as an attacker writes them; at the trap's port where they can name one. */
const literals = (port: number): [url: string, reason: string][] => [
  ...[
    '127.0.0.1',
    '127.0.0.2',
    '127.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '0.0.0.0',
    'localhost',
    'localhost.',
    'x.localhost',
  ].map((host): [string, string] => [`http://${host}:${port}/`, 'address_not_allowed']),
  ['http://127.0.0.1:22/', 'port_not_allowed'],
  [`http://user@127.0.0.1:${port}/`, 'userinfo_not_allowed'],
  ['file:///etc/passwd', 'scheme_not_allowed'],
  ['data:text/plain,x', 'scheme_not_allowed'],
]

/** Publishes one event with a worker beside the app whose names are looked up as the test says, for as long as `check` takes. */
async function sendGuarded(
  app: TestApp,
  options: Parameters<typeof createOutbound>[0],
  check: (eventId: string) => Promise<void>,
): Promise<void> {
  const outbound = createOutbound({ httpAllowed: true, ...options })
  const webhooks = createWebhooks({
    db: app.db,
    sealer: app.wired.sealer,
    outbound,
    log: createLog({ level: 'fatal', pretty: false, name: 'guard' }),
    targets: { httpAllowed: true, loopbackAllowed: true, rules: { httpAllowed: true, portsAllowed: 'any' } },
    dispatch: { endpointConcurrency: 4, inFlightMax: 64, timeScale: 0.01 },
    retentionDays: 30,
  })
  const [dispatcher] = webhooks.workers
  await dispatcher?.start?.()
  try {
    const news = { projectId: app.project.id, type: 'response.completed', data: { id: 'resp_1' } } as const
    const [eventId = ''] = await app.db.tx((tx) => webhooks.publish(tx, news))
    await check(eventId)
  } finally {
    await dispatcher?.drain?.()
    await outbound.close()
  }
}

/** An endpoint whose address got past every earlier check, as one from an older version might have. */
async function plant(app: TestApp, url: string): Promise<string> {
  const { body, text, status } = await app.call(createWebhookEndpoint, {
    body: { name: 'planted', url: 'https://hooks.example.test/', event_types: ['response.completed'] },
  })
  assert.equal(status, 200, text)
  await sql`update webhooks.endpoint set url = ${url} where id = ${body.id}`.execute(app.db.kysely)
  return body.id
}

const logOf = async (app: TestApp, endpointId: string, eventId: string) =>
  (await app.call(retrieveWebhookDelivery, { params: { delivery_id: deliveryId(eventId, endpointId) } })).body
    .attempt_log

const production = { SWITCHYARD_OUTBOUND_LOOPBACK_ALLOWED: 'false', SWITCHYARD_OUTBOUND_HOSTS: '' }

test('an address inside is refused when it is given', async (t) => {
  const trap = await openTrap(t)
  const ports = `443,80,${trap.port}`
  const app = await testApp(t, {
    ...production,
    SWITCHYARD_OUTBOUND_PORTS: ports,
    SWITCHYARD_WEBHOOKS_HTTP_ALLOWED: 'true',
  })
  for (const [url] of literals(trap.port)) {
    const { status, error } = await app.call(createWebhookEndpoint, {
      body: { name: 'inside', url, event_types: ['response.completed'] },
    })
    assert.deepEqual([status, error.code, error.param], [400, 'invalid_value', 'url'], url)
  }
  await trap.untouched()
})

test('an address inside that is stored all the same is refused at every attempt, with the reason in its log', async (t) => {
  const trap = await openTrap(t)
  const app = await testApp(t, production)
  const table: [url: string, reason: string][] = [
    ...literals(trap.port),
    [`http://inside.test:${trap.port}/`, 'address_not_allowed'],
    [`http://mixed.test:${trap.port}/`, 'address_not_allowed'],
    [`http://mapped.test:${trap.port}/`, 'address_not_allowed'],
    [`http://nowhere.invalid:${trap.port}/`, 'name_not_resolved'],
  ]
  const names: Record<string, string[]> = {
    'inside.test': ['127.0.0.1'],
    // One bad address among good ones spoils the name: nothing is dialled, not even the good one.
    'mixed.test': ['8.8.8.8', '127.0.0.1'],
    'mapped.test': ['::ffff:127.0.0.1'],
  }
  const planted = new Map<string, [url: string, reason: string]>()
  for (const row of table) planted.set(await plant(app, row[0]), row)
  const resolve = async (host: string) => names[host] ?? []
  await sendGuarded(app, { portsAllowed: [80, 443, trap.port], resolve }, async (eventId) => {
    for (const [endpointId, [url, reason]] of planted) {
      const tried = async () => (await logOf(app, endpointId, eventId)).length > 0
      assert.ok(await becomesTrue(tried, boundMs), url)
      for (const attempt of await logOf(app, endpointId, eventId))
        assert.deepEqual([attempt.outcome, attempt.status_code], [reason, null], url)
    }
  })
  await trap.untouched()
})

test('a name that leads outside first and inside later is refused from then on', async (t) => {
  const trap = await openTrap(t)
  const sink = await openSink()
  t.after(() => sink.close())
  const { port } = new URL(sink.url)
  let answer = '127.0.0.1'
  const app = await testApp(t, production)
  // 127.0.0.1 stands for a public address here: this machine alone is dialled.
  const options = {
    portsAllowed: [Number(port), trap.port],
    nameTtlMs: 1,
    allowPrivate: (_host: string, address: string) => address === '127.0.0.1',
    resolve: async () => [answer],
  }
  sink.answer('/', (response) => {
    answer = '127.0.0.2'
    response.writeHead(500, { connection: 'close' }).end()
  })
  const endpointId = await plant(app, `http://rebinding.test:${port}/`)
  await sendGuarded(app, options, async (eventId) => {
    const again = async () => (await logOf(app, endpointId, eventId)).length >= 3
    assert.ok(await becomesTrue(again, boundMs))
    const [first, ...rest] = await logOf(app, endpointId, eventId)
    assert.deepEqual([first?.status_code, first?.outcome], [500, 'status'])
    for (const attempt of rest) assert.deepEqual([attempt.status_code, attempt.outcome], [null, 'address_not_allowed'])
  })
  assert.equal(sink.received.length, 1)
  await trap.untouched()
})

// S3-6-g
test('a redirect, to a private address or anywhere, is never followed', async (t) => {
  const trap = await openTrap(t)
  const sink = await openSink()
  t.after(() => sink.close())
  const { port } = new URL(sink.url)
  const app = await testApp(t, production)
  const options = {
    portsAllowed: 'any' as const,
    allowPrivate: (_host: string, address: string) => address === '127.0.0.1',
    resolve: async () => ['127.0.0.1'],
  }
  const codes = [301, 302, 303, 307, 308]
  const endpoints: string[] = []
  for (const code of codes) {
    const location = code === 308 ? `${sink.url}/followed` : `http://127.0.0.1:${trap.port}/`
    sink.answer(`/${code}`, (response) => response.writeHead(code, { location }).end())
    endpoints.push(await plant(app, `http://redirecting.test:${port}/${code}`))
  }
  await sendGuarded(app, options, async (eventId) => {
    for (const [index, endpointId] of endpoints.entries()) {
      assert.ok(await becomesTrue(async () => (await logOf(app, endpointId, eventId)).length > 0, boundMs))
      const [attempt] = await logOf(app, endpointId, eventId)
      assert.deepEqual([attempt?.status_code, attempt?.outcome], [codes[index], 'redirected'])
    }
  })
  await trap.untouched()
  assert.ok(sink.received.every(({ path }) => path !== '/followed'))
})

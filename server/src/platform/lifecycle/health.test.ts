import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { createHealthServer } from './health.ts'
import type { Part } from './module.ts'
import { run } from './run.ts'
import type { Running } from './run.ts'

const silent = () => createLog({ level: 'silent', pretty: false, name: 'test' })

/** A program with the internal listener as its first part. */
async function startProgram(t: TestContext, others: Part[]) {
  const log = silent()
  const metrics = createMetrics()
  const readiness: () => ReturnType<Running['readiness']> = () => running.readiness()
  const health = createHealthServer({ port: 0, readiness, metrics, log })
  const running = run([health, ...others], { log, drainTimeoutMs: 1000, stopTimeoutMs: 1000 })
  await running.started
  t.after(() => running.stop())
  const { host, port } = health.address()
  const get = async (path: string, method = 'GET') => {
    const reply = await fetch(`http://${host}:${port}${path}`, { method })
    return { status: reply.status, type: reply.headers.get('content-type'), body: await reply.text() }
  }
  return { get, running, metrics }
}

test('a live process says so, on loopback', async (t) => {
  const { get } = await startProgram(t, [])
  assert.deepEqual(await get('/healthz'), { status: 200, type: 'text/plain', body: 'ok\n' })
  assert.equal((await get('/healthz?probe=1', 'HEAD')).status, 200)
})

test('readiness is 200 while every part is ready or degraded, and 503 otherwise, with each part named', async (t) => {
  const db = { up: true }
  const { get, running } = await startProgram(t, [
    { name: 'db', ready: async () => (db.up ? { ok: true } : { ok: false, detail: 'connection refused' }) },
    { name: 'cache', ready: async () => ({ ok: true, degraded: 'no connection' }) },
  ])
  const ready = await get('/readyz')
  assert.deepEqual([ready.status, ready.type], [200, 'application/json'])
  assert.deepEqual(JSON.parse(ready.body), {
    ok: true,
    state: 'running',
    parts: { 'internal-http': { ok: true }, db: { ok: true }, cache: { ok: true, degraded: 'no connection' } },
  })
  db.up = false
  const away = await get('/readyz')
  assert.equal(away.status, 503)
  assert.deepEqual(JSON.parse(away.body).parts.db, { ok: false, detail: 'connection refused' })
  db.up = true
  await running.drain()
  const draining = await get('/readyz')
  assert.deepEqual([draining.status, JSON.parse(draining.body).state], [503, 'draining'])
})

test('metrics are served in the text format, with the lag of the event loop', async (t) => {
  const { get, metrics } = await startProgram(t, [])
  metrics.counter('seen_total', 'Seen.').inc(3)
  const reply = await get('/metrics')
  assert.deepEqual([reply.status, reply.type], [200, metrics.contentType])
  assert.match(reply.body, /^seen_total 3$/m)
  assert.match(reply.body, /^nodejs_eventloop_lag_p99_seconds \d/m)
})

test('anything else on the internal port is refused', async (t) => {
  const { get } = await startProgram(t, [])
  assert.equal((await get('/')).status, 404)
  assert.equal((await get('/v1/files')).status, 404)
  assert.equal((await get('/metrics', 'POST')).status, 405)
})

test('a taken port stops the start', async (t) => {
  const { running } = await startProgram(t, [])
  const log = silent()
  const options = { readiness: () => running.readiness(), metrics: createMetrics(), log }
  const first = createHealthServer({ ...options, port: 0 })
  await first.start?.()
  t.after(() => first.stop?.())
  const second = createHealthServer({ ...options, port: first.address().port })
  await assert.rejects(async () => second.start?.(), { code: 'EADDRINUSE' })
  await second.stop?.()
})

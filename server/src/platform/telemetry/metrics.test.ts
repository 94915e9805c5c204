import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'

test('what was counted, measured and gauged can be scraped', async () => {
  const metrics = createMetrics()
  metrics.counter('http_requests_total', 'Requests answered.', ['route']).inc({ route: 'files.get' }, 2)
  metrics
    .histogram('http_request_duration_seconds', 'Time to answer.', ['route'])
    .observe({ route: 'files.get' }, 0.003)
  metrics.histogram('http_body_bytes', 'Size.', [], [10, 100]).observe(50)
  metrics.gauge('db_connections_count', 'In use.').set(3)
  metrics.gauge('outbox_waiting_count', 'Waiting.', [], async () => 7)
  const text = await metrics.text()
  for (const line of [
    'http_requests_total{route="files.get"} 2',
    'http_request_duration_seconds_bucket{le="0.0025",route="files.get"} 0',
    'http_request_duration_seconds_bucket{le="0.005",route="files.get"} 1',
    'http_body_bytes_bucket{le="100"} 1',
    'db_connections_count 3',
    'outbox_waiting_count 7',
  ]) {
    assert.ok(text.includes(`${line}\n`), line)
  }
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/)
})

test('the process tells its memory and its event-loop lag', async () => {
  const text = await createMetrics().text()
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
    assert.match(text, new RegExp(`^${name} \\d`, 'm'))
  }
})

test('two registries share nothing', async () => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.counter('things_total', 'Things.').inc()
  other.counter('things_total', 'Things.')
  assert.match(await other.text(), /^things_total 0$/m)
})

test('a name without its unit, or taken already, is refused at start', () => {
  const metrics = createMetrics()
  assert.throws(() => metrics.gauge('queue_depth', 'x'), /ends in its unit/)
  assert.throws(() => metrics.histogram('latency_ms', 'x'), /ends in its unit/)
  assert.throws(() => metrics.counter('requests_count', 'x'), /ends in _total/)
  assert.throws(() => metrics.gauge('Queue-depth_count', 'x'), /lower case/)
  metrics.counter('twice_total', 'x')
  assert.throws(() => metrics.counter('twice_total', 'x'), /already been registered/)
})

test('a figure that cannot be read does not take the others with it', async () => {
  const metrics = createMetrics()
  metrics.gauge('broken_count', 'x', [], () => Promise.reject(new Error('database away')))
  metrics.gauge('stuck_count', 'x', [], () => new Promise<number>(() => {}))
  metrics.gauge('fine_count', 'x', [], () => 1)
  const text = await metrics.text()
  for (const line of ['broken_count Nan', 'stuck_count Nan', 'fine_count 1'])
    assert.ok(text.includes(`${line}\n`), line)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../telemetry/log.ts'
import { clockPart } from './clock-part.ts'
import type { Part } from './module.ts'
import { run } from './run.ts'

interface Line {
  part: string
  step: string
  durationMs: number
  level: string
}

function setUp() {
  const lines: Line[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) }
  const log = createLog({ level: 'info', pretty: false, name: 'test', destination })
  const steps: string[] = []
  const part = (name: string, own: Partial<Part> = {}): Part => ({
    name,
    start: async () => void steps.push(`start ${name}`),
    drain: async () => void steps.push(`drain ${name}`),
    stop: async () => void steps.push(`stop ${name}`),
    ...own,
  })
  return { steps, lines, part, options: { log, drainTimeoutMs: 1000, stopTimeoutMs: 1000 } }
}

const never = () => new Promise<never>(() => {})

test('parts start in order, and drain and stop in reverse, each step logged with its time', async () => {
  const { steps, lines, part, options } = setUp()
  const running = run([part('db'), part('worker'), part('http')], options)
  await running.started
  assert.equal(await running.stop(), true)
  const order = ['db', 'worker', 'http']
  const expected = [
    ...order.map((name) => `start ${name}`),
    ...order.toReversed().map((name) => `drain ${name}`),
    ...order.toReversed().map((name) => `stop ${name}`),
  ]
  assert.deepEqual(steps, expected)
  assert.deepEqual(
    lines.map(({ part, step }) => `${step} ${part}`),
    expected,
  )
  assert.ok(lines.every((line) => line.durationMs >= 0))
})

test('a part that cannot start ends those before it, and later ones are never begun', async () => {
  const { steps, part, options } = setUp()
  const refused = async () => Promise.reject(new Error('port taken'))
  const running = run([part('db'), part('cache'), part('http', { start: refused }), part('late')], options)
  await assert.rejects(running.started, (error: Error) => {
    assert.match(error.message, /part http did not start/)
    return (error.cause as Error).message === 'port taken'
  })
  assert.deepEqual(steps, ['start db', 'start cache', 'stop cache', 'stop db'])
  assert.equal(await running.stop(), false)
  assert.equal((await running.readiness()).state, 'stopped')
})

test('a part that never comes up is given up and stopped too', async () => {
  const { steps, part, options } = setUp()
  const running = run([part('db'), part('stuck', { start: never })], { ...options, startTimeoutMs: 20 })
  await assert.rejects(running.started, /part stuck did not start/)
  assert.deepEqual(steps, ['start db', 'stop stuck', 'stop db'])
})

test('parts finish their work at the same time, and asking twice changes nothing', async () => {
  const { steps, part, options } = setUp()
  const other = Promise.withResolvers<void>()
  // Each waits for the other: one after the other would never end.
  const running = run(
    [part('worker', { drain: async () => other.resolve() }), part('http', { drain: () => other.promise })],
    options,
  )
  await running.started
  assert.deepEqual(await Promise.all([running.drain(), running.drain(), running.stop(), running.stop()]), [
    true,
    true,
    true,
    true,
  ])
  assert.deepEqual(
    steps.filter((step) => step.startsWith('stop')),
    ['stop http', 'stop worker'],
  )
})

test('work that does not end in time, and a part that fails to stop, hold up nobody', async () => {
  const { steps, lines, part, options } = setUp()
  const broken = async () => Promise.reject(new Error('broken pipe'))
  const parts = [part('db'), part('slow', { drain: never, stop: never }), part('http', { drain: broken, stop: broken })]
  const running = run(parts, { ...options, drainTimeoutMs: 20, stopTimeoutMs: 20 })
  await running.started
  assert.equal(await running.stop(), false)
  assert.equal(steps.at(-1), 'stop db')
  const failed = lines.filter((line) => line.level === 'error').map(({ part, step }) => `${step} ${part}`)
  assert.deepEqual(failed.toSorted(), ['drain http', 'drain slow', 'stop http', 'stop slow'])
})

test('a stop during the start ends what is up and begins nothing more', async () => {
  const { steps, part, options } = setUp()
  const begun = Promise.withResolvers<void>()
  const slow = Promise.withResolvers<void>()
  const start = () => {
    begun.resolve()
    return slow.promise
  }
  const running = run([part('db'), part('migrations', { start }), part('http')], options)
  await begun.promise
  const stopped = running.stop()
  slow.resolve()
  assert.equal(await stopped, true)
  await running.started
  assert.deepEqual(
    steps.filter((step) => !step.startsWith('drain')),
    ['start db', 'stop migrations', 'stop db'],
  )
})

test('ready means running with every part ready; degraded still counts as ready', async () => {
  const { part, options } = setUp()
  const cache: { down: boolean } = { down: true }
  const gate = Promise.withResolvers<void>()
  const parts = [
    part('db', { ready: async () => ({ ok: true, detail: 'pool 2 of 10' }) }),
    part('cache', { ready: async () => (cache.down ? { ok: true, degraded: 'no connection' } : { ok: true }) }),
    part('http', { start: () => gate.promise }),
  ]
  const running = run(parts, options)
  const early = await running.readiness()
  assert.deepEqual(
    [early.ok, early.state, early.parts['http']],
    [false, 'starting', { ok: false, detail: 'not started' }],
  )
  gate.resolve()
  await running.started
  assert.deepEqual(await running.readiness(), {
    ok: true,
    state: 'running',
    parts: {
      db: { ok: true, detail: 'pool 2 of 10' },
      cache: { ok: true, degraded: 'no connection' },
      http: { ok: true },
    },
  })
  await running.drain()
  const late = await running.readiness()
  assert.deepEqual([late.ok, late.state], [false, 'draining'])
  await running.stop()
})

test('a part that does not answer, or fails to, is not ready, and its message carries no secret', async () => {
  const { part, options } = setUp()
  const parts = [
    part('stuck', { ready: never }),
    part('broken', { ready: () => Promise.reject(new Error('connect postgres://app:hunter22@db:5432')) }),
  ]
  const running = run(parts, { ...options, readyTimeoutMs: 20 })
  await running.started
  const [one, same] = await Promise.all([running.readiness(), running.readiness()])
  assert.equal(one, same)
  assert.deepEqual(one.parts, {
    stuck: { ok: false, detail: 'not done within 20 ms' },
    broken: { ok: false, detail: 'connect postgres://app:…redacted@db:5432' },
  })
  assert.equal(one.ok, false)
  await running.stop()
})

test('a clock more than a second off the database is degraded, either way', async () => {
  for (const [skewMs, degraded] of [
    [0, false],
    [1000, false],
    [-1000, false],
    [1001, true],
    [-5000, true],
  ] as const) {
    const answer = await clockPart(async () => skewMs).ready?.()
    assert.ok(answer?.ok)
    assert.equal('degraded' in answer, degraded)
  }
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../../../../dev/engines/postgres.ts'
import { scratch as scratchFolder } from '../../../../dev/engines/testing/scratch.ts'
import { startTestServices } from '../../../../dev/test-services.ts'
import type { TestServices } from '../../../../dev/test-services.ts'
import { createLog } from '../telemetry/log.ts'
import { openDatabase } from './db.ts'
import type { Database } from './db.ts'
import { dueSweep } from './due-sweep.ts'
import type { SweepLease } from './due-sweep.ts'
import { releaseLease, renewLease, takeLease } from './lease.ts'
import { scratchDatabase } from './testing/scratch-database.ts'
import type { ScratchDatabase } from './testing/scratch-database.ts'

const log = createLog({ level: 'error', pretty: false, name: 'test', destination: process.stderr })
const boundMs = 30_000
let services: TestServices
let scratch: ScratchDatabase
let db: Database

before(async () => {
  services = await startTestServices()
  scratch = await scratchDatabase(services.env.SWITCHYARD_TEST_POSTGRES_URL)
  db = open(scratch.url)
})
after(async () => {
  await db.close()
  await scratch.drop()
  await services.stop()
})

test('a lease has one holder at a time, and its numbers never come back', async () => {
  const first = await takeLease(db.as(), 'numbers', 'a', 10_000)
  assert.equal(first?.attempt, 1)
  assert.equal(await takeLease(db.as(), 'numbers', 'b', 10_000), null)
  assert.equal((await takeLease(db.as(), 'numbers', 'a', 10_000))?.attempt, 1, 'the same holding is renewed')
  await releaseLease(db.as(), first)
  const second = await takeLease(db.as(), 'numbers', 'b', 10_000)
  assert.equal(second?.attempt, 2)
  await releaseLease(db.as(), second)
  assert.equal((await takeLease(db.as(), 'numbers', 'a', 10_000))?.attempt, 3)
  assert.equal(await renewLease(db.as(), first, 10_000), false, 'an old holding cannot be renewed')
  await releaseLease(db.as(), first)
  assert.equal(await takeLease(db.as(), 'numbers', 'c', 10_000), null, 'nor can it release a newer one')
})

test('a lease that was not renewed passes to the next by the clock of PostgreSQL', async () => {
  await takeLease(db.as(), 'passing', 'a', 100)
  await eventually(async () => (await takeLease(db.as(), 'passing', 'b', 10_000)) !== null)
  assert.equal(await takeLease(db.as(), 'passing', 'a', 10_000), null)
})

test('of several processes one sweeps at a time, and another takes over when it ends', async () => {
  let running = 0
  let atOnceMax = 0
  const ran = new Set<number>()
  const sweeps = [0, 1, 2].map((process) =>
    dueSweep({
      name: 'one-at-a-time',
      everyMs: 20,
      leaseMs: 500,
      db: db.as(),
      log,
      run: async () => {
        running += 1
        atOnceMax = Math.max(atOnceMax, running)
        await delay(10)
        running -= 1
        ran.add(process)
        return 0
      },
    }),
  )
  for (const part of sweeps) await part.start?.()
  await eventually(async () => ran.size === 1)
  for (let ended = 1; ended <= 2; ended += 1) {
    const [current] = [...ran].slice(-1)
    const begunMs = performance.now()
    await sweeps[current!]!.drain?.()
    await eventually(async () => ran.size === ended + 1)
    assert.ok(performance.now() - begunMs < 450, 'the lease was given back, not waited for')
  }
  for (const part of sweeps) await part.stop?.()
  assert.equal(atOnceMax, 1)
})

test('a sweep goes on at once while there is more to do, then sleeps', async () => {
  let left = 25
  let rounds = 0
  const part = dueSweep({
    name: 'more',
    everyMs: 10_000,
    leaseMs: 20_000,
    db: db.as(),
    log,
    run: async () => {
      rounds += 1
      const done = Math.min(10, left)
      left -= done
      return done
    },
  })
  await part.start?.()
  await eventually(async () => rounds === 4)
  assert.equal(left, 0)
  await part.drain?.()
  await part.stop?.()
})

test('a round that outlasts its lease keeps it by renewing, and one that lost it is told', async () => {
  let lease: SweepLease | undefined
  const lost = Promise.withResolvers<void>()
  const part = dueSweep({
    name: 'long',
    everyMs: 50,
    leaseMs: 300,
    db: db.as(),
    log,
    run: async (held) => {
      lease = held
      await new Promise<void>((resolve) => held.signal.addEventListener('abort', () => resolve()))
      lost.resolve()
      return 0
    },
  })
  await part.start?.()
  await eventually(async () => lease !== undefined)
  const lateMs = performance.now() + 900
  await eventually(async () => {
    assert.equal(await takeLease(db.as(), 'long', 'thief', 100), null, 'still held')
    return performance.now() > lateMs
  })
  // What a freeze looks like from outside: the time has passed, and somebody else has taken over.
  await releaseLease(db.as(), lease!)
  assert.notEqual(await takeLease(db.as(), 'long', 'thief', 60_000), null)
  await lost.promise
  await part.drain?.()
  await part.stop?.()
})

test('a sweep that fails is tried again, and readiness says so', async () => {
  let tries = 0
  const part = dueSweep({
    name: 'failing',
    everyMs: 20,
    leaseMs: 1_000,
    db: db.as(),
    log: log.child({}, { level: 'silent' }),
    run: async () => {
      tries += 1
      if (tries <= 3) throw new Error('not yet')
      return 0
    },
  })
  await part.start?.()
  await eventually(async () => tries === 3)
  await eventually(async () => 'degraded' in (await part.ready!()))
  await eventually(async () => tries > 3)
  await eventually(async () => !('degraded' in (await part.ready!())))
  await part.drain?.()
  await part.stop?.()
})

test('a sweep survives PostgreSQL being killed and goes on when it is back', async (t) => {
  const { folder, own } = scratchFolder(t)
  const postgres = own(await startPostgres({ dataDir: folder }))
  const ownDatabase = await scratchDatabase(postgres.url)
  const database = open(ownDatabase.url)
  t.after(() => database.close())
  let rounds = 0
  const part = dueSweep({
    name: 'survivor',
    everyMs: 20,
    leaseMs: 500,
    db: database.as(),
    log: log.child({}, { level: 'silent' }),
    run: async () => {
      await database.now()
      rounds += 1
      return 0
    },
  })
  t.after(() => part.stop?.())
  await part.start?.()
  await eventually(async () => rounds > 0)
  await postgres.kill9()
  await eventually(async () => 'degraded' in (await part.ready!()))
  const before = rounds
  await postgres.restart()
  await eventually(async () => rounds > before)
  await part.drain?.()
  await part.stop?.()
})

function open(url: string): Database {
  return openDatabase({
    url,
    connectionsMax: 8,
    statementTimeoutMs: 5_000,
    applicationName: 'test',
    onIdleError: () => {},
  })
}

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + boundMs
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail('not in time')
    await delay(10)
  }
}

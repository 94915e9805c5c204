import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { startValkey } from '../../../../dev/engines/valkey.ts'
import type { Valkey as Server } from '../../../../dev/engines/valkey.ts'
import { becomesTrue } from '../../../../dev/engines/wait-until.ts'
import { createLog } from '../telemetry/log.ts'
import { CacheUnavailable, createValkey, valkeyPart } from './valkey.ts'

// A server of this file's own, because it is killed, stopped and wiped here.
let folder: string
let server: Server

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-valkey-'))
  server = await startValkey({ dataDir: folder })
})

after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Line {
  msg: string
  connection?: string
}

async function openValkey(t: TestContext, url = server.url, commandTimeoutMs = 250) {
  const lines: Line[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) }
  const log = createLog({ level: 'info', pretty: false, name: 'test', destination })
  const valkey = createValkey({ url, log, commandTimeoutMs, connectTimeoutMs: 500 })
  t.after(() => valkey.close())
  await valkey.open()
  return { valkey, lines }
}

async function timed(work: Promise<unknown>): Promise<{ error: unknown; ms: number }> {
  const began = performance.now()
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { error, ms: performance.now() - began }
}

test('commands run on an authenticated connection', async (t) => {
  const { valkey } = await openValkey(t)
  assert.equal(valkey.state, 'up')
  await valkey.ping()
  assert.equal(await valkey.call((client) => client.set('a', '1')), 'OK')
  assert.equal(await valkey.client.get('a'), '1')
  assert.deepEqual(await valkeyPart(valkey).ready?.(), { ok: true })
})

test('a mistake in a command is its own error, not an outage', async (t) => {
  const { valkey } = await openValkey(t)
  await valkey.call((client) => client.set('text', 'abc'))
  await assert.rejects(
    valkey.call((client) => client.incr('text')),
    { name: 'ReplyError', message: /not an integer/ },
  )
  const broken = valkey.script('broken', 'return redis.call("NOPE")')
  await assert.rejects(broken([], []), { name: 'Error', message: 'script broken failed' })
})

test('a script survives SCRIPT FLUSH and FLUSHALL', async (t) => {
  const { valkey } = await openValkey(t)
  const add = valkey.script('add', 'return redis.call("INCRBY", KEYS[1], ARGV[1])')
  await valkey.client.del('sum')
  assert.equal(await add(['sum'], [2]), 2)
  assert.equal(await add(['sum'], [3]), 5)
  await valkey.client.script('FLUSH')
  assert.equal(await add(['sum'], [4]), 9)
  await valkey.client.flushall()
  await valkey.client.script('FLUSH')
  assert.equal(await add(['sum'], [1]), 1)
  assert.equal(await add(['sum'], [1]), 2)
})

test('while the server is down commands fail at once, and after it is back they work without a restart', async (t) => {
  const { valkey, lines } = await openValkey(t)
  const get = valkey.script('get', 'return redis.call("GET", KEYS[1])')
  for (let round = 0; round < 3; round++) {
    await server.kill9()
    assert.ok(await becomesTrue(() => valkey.state === 'down', 2000))
    for (const work of [valkey.ping(), get(['k'], []), valkey.call((client) => client.get('k'))]) {
      const { error, ms } = await timed(work)
      assert.ok(error instanceof CacheUnavailable, String(error))
      assert.ok(ms < 50, `${ms} ms`)
    }
    assert.ok((await timed(valkey.client.get('k'))).ms < 50)
    assert.deepEqual(await valkeyPart(valkey).ready?.(), { ok: true, degraded: 'Valkey is down' })
    await server.restart()
    assert.ok(await becomesTrue(() => valkey.state === 'up', 3000))
    await valkey.call((client) => client.set('k', String(round)))
    assert.equal(await get(['k'], []), String(round))
  }
  const told = lines.map((line) => line.msg)
  assert.deepEqual(told, ['valkey up', ...Array.from({ length: 3 }, () => ['valkey down', 'valkey up']).flat()])
})

test('commands in flight when the server dies fail, and none is sent a second time', async (t) => {
  const { valkey } = await openValkey(t, server.url, 2000)
  await valkey.client.set('count', '0')
  process.kill(server.pid, 'SIGSTOP')
  const inFlight = Array.from({ length: 100 }, () => timed(valkey.call((client) => client.incr('count'))))
  await server.kill9()
  for (const { error } of await Promise.all(inFlight)) assert.ok(error instanceof CacheUnavailable)
  await server.restart()
  assert.ok(await becomesTrue(() => valkey.state === 'up', 3000))
  assert.equal(await valkey.client.get('count'), null)
})

test('an answer that came while this process was busy is taken', async (t) => {
  const { valkey } = await openValkey(t)
  const answer = valkey.call((client) => client.echo('here'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  assert.equal(await answer, 'here')
})

test('a server that hangs costs one timeout, is then treated as down, and is used again when it goes on', async (t) => {
  const { valkey } = await openValkey(t)
  const heard: string[] = []
  await valkey.subscribe('hang', (message) => heard.push(message))
  process.kill(server.pid, 'SIGSTOP')
  try {
    const first = await timed(valkey.ping())
    assert.ok(first.error instanceof CacheUnavailable)
    assert.ok(first.ms >= 200 && first.ms < 400, `${first.ms} ms`)
    assert.ok(await becomesTrue(() => valkey.state === 'down', 4000))
    assert.ok((await timed(valkey.ping())).ms < 50)
  } finally {
    process.kill(server.pid, 'SIGCONT')
  }
  assert.ok(await becomesTrue(() => valkey.state === 'up', 4000))
  await valkey.ping()
  const arrives = async () => {
    await valkey.client.publish('hang', 'again')
    return heard.length > 0
  }
  assert.ok(await becomesTrue(arrives, 5000))
})

test('a subscriber hears its channel, shares it, and hears it again after the server came back', async (t) => {
  const { valkey } = await openValkey(t)
  const heard: string[] = []
  let gaps = 0
  const endFirst = await valkey.subscribe(
    'news',
    (message) => heard.push(`first ${message}`),
    () => gaps++,
  )
  await valkey.subscribe('news', (message) => heard.push(`second ${message}`))
  await valkey.subscribe('other', () => assert.fail('nothing was sent there'))
  await valkey.client.publish('news', '1')
  assert.ok(await becomesTrue(() => heard.length === 2, 2000))

  await server.kill9()
  await server.restart()
  assert.ok(await becomesTrue(() => valkey.state === 'up' && gaps === 1, 5000))
  await endFirst()
  await valkey.client.publish('news', '2')
  assert.ok(await becomesTrue(() => heard.length === 3, 2000))
  assert.deepEqual(heard, ['first 1', 'second 1', 'second 2'])
})

test('a channel without listeners is no longer sent, and one failing listener does not silence another', async (t) => {
  const { valkey, lines } = await openValkey(t)
  const heard: string[] = []
  const endBroken = await valkey.subscribe('mixed', () => {
    throw new Error('listener broke')
  })
  const endWorking = await valkey.subscribe('mixed', (message) => heard.push(message))
  assert.equal(await valkey.client.publish('mixed', 'x'), 1)
  assert.ok(await becomesTrue(() => heard.length === 1, 2000))
  assert.ok(lines.some((line) => line.msg === 'a subscriber failed'))
  await endBroken()
  await endWorking()
  await endWorking()
  assert.equal(await valkey.client.publish('mixed', 'y'), 0)
})

test('a program starts without Valkey, and finds it and its channels when it comes', async (t) => {
  await server.stop()
  const { valkey, lines } = await openValkey(t)
  assert.equal(valkey.state, 'down')
  assert.equal(lines[0]?.msg, 'valkey not there yet')
  const heard: string[] = []
  let gaps = 0
  await valkey.subscribe(
    'early',
    (message) => heard.push(message),
    () => gaps++,
  )
  await server.restart()
  assert.ok(await becomesTrue(() => valkey.state === 'up' && gaps === 1, 5000))
  await valkey.client.publish('early', 'hello')
  assert.ok(await becomesTrue(() => heard.length === 1, 2000))
})

test('a wrong password is an outage that the log explains without the password', async (t) => {
  const { valkey, lines } = await openValkey(t, `redis://:wrong-password-canary@127.0.0.1:${server.port}`)
  assert.equal(valkey.state, 'down')
  await assert.rejects(valkey.ping(), { name: 'CacheUnavailable' })
  assert.match(JSON.stringify(lines), /WRONGPASS/)
  assert.doesNotMatch(JSON.stringify(lines), /wrong-password-canary/)
})

test('a closed cache refuses commands and ends in any state', async (t) => {
  const { valkey } = await openValkey(t)
  await valkey.subscribe('end', () => {})
  await valkey.close()
  await valkey.close()
  await assert.rejects(valkey.ping(), { name: 'CacheUnavailable' })
  assert.equal(valkey.state, 'down')
})

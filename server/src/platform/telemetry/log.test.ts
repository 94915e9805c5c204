import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { createLog, flushLog, mayFail } from './log.ts'

const CANARY = 'CANARYcanary0123456789'

function logInto(lines: string[], pretty = false) {
  return createLog({ level: 'trace', pretty, name: 'test', destination: { write: (line) => lines.push(line) } })
}

test('no secret leaves through a field, a message, a binding or an error', () => {
  for (const pretty of [false, true]) {
    const lines: string[] = []
    const log = logInto(lines, pretty)
    const key = `sk-proj-${CANARY}`
    log.info({ headers: { authorization: `Bearer ${key}`, cookie: CANARY } }, 'request')
    log.info({ body: { domain_secrets: [{ domain: 'a.b', name: 'N', value: CANARY }] } }, `with ${key}`)
    log.info('plain %s', key)
    log.child({ secret: CANARY, domain_secrets: [{ value: CANARY }] }).info({ deep: { er: { api_key: CANARY } } })
    log.child({}, { msgPrefix: `${key} ` }).warn('prefixed')
    log.error(new Error(`refused ${key}`, { cause: new Error(`whsec_${CANARY}`, { cause: `ek_${CANARY}` }) }))
    log.error({ err: Object.assign(new Error('x'), { password: CANARY, config: { value: CANARY } }) }, 'with extras')
    log.error({ error: new AggregateError([new Error(`adsk_${CANARY}`)], 'all failed') })
    assert.equal(lines.length, 8)
    for (const line of lines) assert.ok(!line.includes(CANARY), line)
  }
})

test('an error is logged with each of its causes once', () => {
  const lines: string[] = []
  const root = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED', port: 5432 })
  logInto(lines).error({ err: new TypeError('no file', { cause: new Error('no row', { cause: root }) }) }, 'failed')
  const { err, level, msg } = JSON.parse(lines[0]!)
  assert.deepEqual([level, msg, err.type, err.message], ['error', 'failed', 'TypeError', 'no file'])
  assert.deepEqual(
    err.causes.map((cause: { message: string; code?: string }) => [cause.message, cause.code]),
    [
      ['no row', undefined],
      ['connect refused', 'ECONNREFUSED'],
    ],
  )
  for (const message of ['no file', 'no row', 'connect refused']) {
    assert.equal(lines[0]!.split(`"message":"${message}"`).length, 2)
  }
})

test('a chain of causes that never ends is cut', () => {
  const lines: string[] = []
  const log = logInto(lines)
  const circular = new Error('a')
  circular.cause = new Error('b', { cause: circular })
  log.error(circular)
  let long = new Error('0')
  for (let depth = 1; depth < 50; depth++) long = new Error(String(depth), { cause: long })
  log.error(long)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).err.causes.length),
    [1, 8],
  )
})

test('going on after a failure leaves a line with the reason', async () => {
  const lines: string[] = []
  const log = logInto(lines)
  assert.equal(await mayFail(log, 'unused', () => 7), 7)
  const failing = () => Promise.reject(new Error('cache away'))
  assert.equal(await mayFail(log, 'the feed is stored anyway', failing), undefined)
  const throwing = (): never => {
    throw new Error('at once')
  }
  assert.equal(await mayFail(log, 'sync too', throwing), undefined)
  const shown = lines.map((line) => JSON.parse(line)).map(({ level, why, err }) => [level, why, err.message])
  assert.deepEqual(shown, [
    ['warn', 'the feed is stored anyway', 'cache away'],
    ['warn', 'sync too', 'at once'],
  ])
})

test('lines on standard output survive a process that exits at once', () => {
  const source = `
    import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)}
    const log = createLog({ level: 'info', pretty: false, name: 'child' })
    for (let n = 0; n < 1000; n++) log.info({ n }, 'line')
    log.debug('not at this level')
    process.exit(0)`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  const lines = child.stdout.trim().split('\n')
  assert.equal(lines.length, 1000)
  assert.equal(JSON.parse(lines[999]!).n, 999)
})

test('a flush resolves for every kind of destination', async () => {
  await flushLog(logInto([]))
})

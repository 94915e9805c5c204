import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDatabaseUnavailable } from './unavailable.ts'

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code })

test('a database that is away, starting, full or busy is told from a query that is wrong', () => {
  for (const code of [
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '53100',
    '08006',
    '08P01',
    '57014',
    '40P01',
    '40001',
    '25006',
    'ECONNREFUSED',
    'ECONNRESET',
    'ENOTFOUND',
  ]) {
    assert.equal(isDatabaseUnavailable(coded(code)), true, code)
  }
  for (const code of ['23505', '42601', '42P01', '22P02', '0A000', 'ENOENT', '08']) {
    assert.equal(isDatabaseUnavailable(coded(code)), false, code)
  }
})

test('what the driver says only in words counts too', () => {
  for (const text of [
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ]) {
    assert.equal(isDatabaseUnavailable(new Error(text)), true, text)
  }
})

test('the reason is found behind the words that were put around it, and a circle ends', () => {
  assert.equal(
    isDatabaseUnavailable(new Error('could not load', { cause: new Error('run', { cause: coded('57P01') }) })),
    true,
  )
  const circle = new Error('a')
  circle.cause = circle
  assert.equal(isDatabaseUnavailable(circle), false)
  assert.equal(isDatabaseUnavailable('57P01'), false)
  assert.equal(isDatabaseUnavailable(undefined), false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import { Fault } from '#platform/errors/fault.ts'
import { faultReply } from './fault-reply.ts'

const coded = (code: string) => Object.assign(new Error('internal words'), { code, statusCode: 418 })

test('a fault is sent as it was meant', () => {
  const fault = new Fault('rate_limit_exceeded', 'Slow down.', {
    param: 'x',
    retryAfterMs: 250,
    headers: { 'x-a': 'b' },
  })
  assert.deepEqual(faultReply(fault, 'req_1'), {
    status: 429,
    headers: { 'x-a': 'b', 'x-should-retry': 'true', 'retry-after-ms': '250', 'retry-after': '1' },
    body: { error: { message: 'Slow down.', type: 'requests', param: 'x', code: 'rate_limit_exceeded' } },
    ours: false,
  })
})

test('an error of the framework is said in our words', () => {
  const said = (code: string) => {
    const { status, body, ours } = faultReply(coded(code), 'req_1')
    assert.doesNotMatch(body.error.message, /internal words/)
    return [status, body.error.code, ours]
  }
  assert.deepEqual(said('FST_ERR_CTP_BODY_TOO_LARGE'), [413, 'request_too_large', false])
  assert.deepEqual(said('FST_ERR_CTP_INVALID_MEDIA_TYPE'), [415, 'unsupported_media_type', false])
  assert.deepEqual(said('FST_ERR_CTP_INVALID_CONTENT_LENGTH'), [400, 'invalid_json', false])
  assert.deepEqual(said('FST_ERR_BAD_URL'), [404, 'not_found', false])
  assert.deepEqual(said('FST_ERR_MAX_PARAM_LENGTH'), [404, 'not_found', false])
  assert.deepEqual(said('FST_ERR_SOMETHING_NEW'), [500, 'internal_error', true])
})

test('an engine that is away is an outage to come back from, and belongs in the log', () => {
  for (const error of [coded('57P01'), coded('ECONNREFUSED'), new CacheUnavailable('Valkey did not answer')]) {
    const { status, body, headers, ours } = faultReply(error, 'req_1')
    assert.deepEqual([status, body.error.code, headers['retry-after'], ours], [503, 'server_overloaded', '1', true])
    assert.doesNotMatch(body.error.message, /Valkey|internal/)
  }
})

test('anything else says nothing but where to find it', () => {
  for (const error of [new TypeError('secret'), 'secret', null, undefined, { message: 'secret' }]) {
    const { status, body, ours } = faultReply(error, 'req_1')
    assert.deepEqual([status, body.error.code, body.error.type, ours], [500, 'internal_error', 'server_error', true])
    assert.match(body.error.message, /req_1/)
    assert.doesNotMatch(JSON.stringify(body), /secret/)
  }
})

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationMs } from '../testing/rate-kit.ts'
import type { Bucket, Level, Metric } from './buckets.ts'
import { durationText } from './duration.ts'
import { rateHeaders } from './rate-headers.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

const bucket = (metric: Metric, limit: number, cost: number, level: Level = 'organization'): Bucket => ({
  field: `${metric}:x`,
  level,
  metric,
  limit,
  cost,
  periodMs: metric.endsWith('D') ? dayMs : minuteMs,
})

function verdict(admitted: boolean, asked: readonly (readonly [Bucket, before: number])[]) {
  const buckets = asked.map(([one]) => one)
  const binding = admitted ? null : (buckets[0] ?? null)
  return { admitted, buckets, before: asked.map(([, before]) => before), binding, retryAfterMs: null, clockMicros: 0 }
}

// S3-8.8-a S3-8.8-b S3-8.8-c S3-8.8-d S3-8.8-e S3-8.8-f
test('the headers show what is left after the request, and when all of it is free again', () => {
  const asked = [
    [bucket('RPM', 10, 1), 4],
    [bucket('TPM', 1_000, 100), 250.5],
  ] as const
  assert.deepEqual(rateHeaders(verdict(true, asked)), {
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '5',
    'x-ratelimit-reset-requests': '30s',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '649',
    'x-ratelimit-reset-tokens': '21.03s',
  })
  // A request that is refused takes from the requests of the minute alone.
  assert.deepEqual(rateHeaders(verdict(false, asked)), {
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '5',
    'x-ratelimit-reset-requests': '30s',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '749',
    'x-ratelimit-reset-tokens': '15.03s',
  })
})

test('of several limits the one with the least left is shown, be it of the day or of the project', () => {
  const shown = (asked: Parameters<typeof verdict>[1]) => {
    const headers = rateHeaders(verdict(true, asked))
    return ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}-requests`])
  }
  const minute = [bucket('RPM', 10, 1), 0] as const
  assert.deepEqual(shown([minute, [bucket('RPD', 100, 1), 98]]), ['100', '1', '23h45m36s'])
  assert.deepEqual(shown([minute, [bucket('RPD', 100, 1), 10]]), ['10', '9', '6s'])
  assert.deepEqual(shown([minute, [bucket('RPM', 3, 1, 'project'), 1]]), ['3', '1', '40s'])
})

test('without a limit on tokens their three headers are left out', () => {
  const headers = rateHeaders(verdict(true, [[bucket('RPM', 10, 1), 0]]))
  assert.deepEqual(Object.keys(headers), [
    'x-ratelimit-limit-requests',
    'x-ratelimit-remaining-requests',
    'x-ratelimit-reset-requests',
  ])
})

test('what is left is never below nothing, and a limit that was lowered shows none', () => {
  const asked = [[bucket('TPM', 100, 10), 250]] as const
  const headers = rateHeaders(verdict(false, asked))
  assert.deepEqual([headers['x-ratelimit-remaining-tokens'], headers['x-ratelimit-reset-tokens']], ['0', '2m30s'])
})

test('durations are written as Go writes them, and never say less than it takes', () => {
  const written: Record<number, string> = {
    0: '0s',
    1: '1ms',
    120: '120ms',
    999.2: '1s',
    1_000: '1s',
    1_500: '1.5s',
    59_999: '59.999s',
    60_000: '1m0s',
    360_000: '6m0s',
    3_600_000: '1h0m0s',
    86_400_000: '24h0m0s',
    90_061_001: '25h1m1.001s',
  }
  for (const [ms, text] of Object.entries(written)) assert.equal(durationText(Number(ms)), text)
  const reads = fc.property(fc.double({ min: 0, max: 10 * dayMs, noNaN: true }), (ms) => {
    const back = durationMs(durationText(ms))
    assert.ok(back > ms - 1e-3 && back < ms + 1 + 1e-3, `${ms} became ${back}`)
  })
  fc.assert(reads)
})

import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketWidths } from '@switchyard/contracts/organization/usage-query.ts'
import { bucketLimit, bucketPage, widthSeconds, type SpanAsked, type UsageBucket } from './usage-buckets.ts'

const at = (text: string) => Date.parse(text) / 1_000
const now = new Date('2026-11-15T12:34:56Z')

test('buckets are hours and days of UTC, cut where the span begins and ends', () => {
  const asked = {
    start_time: at('2026-11-12T10:00:00Z'),
    end_time: at('2026-11-14T06:00:00Z'),
    bucket_width: '1d',
  } as const
  assert.deepEqual(bucketPage(asked, 7, now), {
    buckets: [
      { start: at('2026-11-12T10:00:00Z'), end: at('2026-11-13T00:00:00Z') },
      { start: at('2026-11-13T00:00:00Z'), end: at('2026-11-14T00:00:00Z') },
      { start: at('2026-11-14T00:00:00Z'), end: at('2026-11-14T06:00:00Z') },
    ],
    nextPage: null,
  })
})

test('without an end the span goes on through the bucket that is now', () => {
  const open = { start_time: at('2026-11-15T11:00:00Z'), bucket_width: '1h' } as const
  assert.deepEqual(bucketPage(open, 24, now).buckets.at(-1), {
    start: at('2026-11-15T12:00:00Z'),
    end: at('2026-11-15T13:00:00Z'),
  })
  assert.deepEqual(bucketPage({ ...open, start_time: at('2027-01-01T00:00:00Z') }, 24, now), {
    buckets: [],
    nextPage: null,
  })
})

test('a page has as many buckets as its width allows, and refuses to have more', () => {
  assert.deepEqual(
    bucketWidths.map((width) => bucketLimit(width, undefined)),
    [60, 24, 7],
  )
  assert.deepEqual([bucketLimit('1d', 31), bucketLimit('1h', 168), bucketLimit('1m', 1_440)], [31, 168, 1_440])
  for (const [width, limit] of [
    ['1d', 32],
    ['1h', 169],
    ['1m', 1_441],
  ] as const) {
    assert.throws(() => bucketLimit(width, limit), { code: 'integer_above_max_value', param: 'limit' })
  }
})

test('an end that is not after the start, and a page that the query never gave, are refused by name', () => {
  const asked = { start_time: 86_400, end_time: 10 * 86_400, bucket_width: '1d' } as const
  const end = (end_time: number) => () => bucketPage({ ...asked, end_time }, 7, now)
  assert.throws(end(86_400), { code: 'invalid_value', param: 'end_time' })
  assert.throws(end(0), { code: 'invalid_value', param: 'end_time' })
  const named = (second: number) => `page_${second.toString(36)}`
  for (const page of [
    '',
    'page_',
    'x',
    named(86_400),
    named(10 * 86_400),
    named(3 * 86_400 + 1),
    `${named(172_800)} `,
  ]) {
    assert.throws(() => bucketPage({ ...asked, page }, 7, now), { code: 'invalid_value', param: 'page' }, page)
  }
  assert.equal(bucketPage({ ...asked, page: named(172_800) }, 7, now).buckets[0]?.start, 172_800)
})

const spans = fc.record({
  start: fc.integer({ min: 0, max: 4_000_000_000 }),
  seconds: fc.integer({ min: 1, max: 5_000_000 }),
  width: fc.constantFrom(...bucketWidths),
  limit: fc.integer({ min: 1, max: 31 }),
})
const pagesMax = 40

test('pages cover the span from its first second on, without gap or overlap', () => {
  fc.assert(
    fc.property(spans, ({ start, seconds, width, limit }) => {
      const end = start + seconds
      const met: UsageBucket[] = []
      let page: string | null | undefined
      for (let turned = 0; turned < pagesMax && page !== null; turned += 1) {
        const asked: SpanAsked = { start_time: start, end_time: end, bucket_width: width, page: page ?? undefined }
        const one = bucketPage(asked, limit, now)
        assert.ok(one.buckets.length <= limit && one.buckets.length > 0)
        met.push(...one.buckets)
        page = one.nextPage
      }
      assert.equal(met[0]?.start, start)
      for (const [index, bucket] of met.entries()) {
        const next = met[index + 1]
        if (next !== undefined) assert.ok(bucket.end === next.start && next.start % widthSeconds[width] === 0)
      }
      if (page === null) assert.equal(met.at(-1)?.end, end)
    }),
  )
})

import { bucketCounts, type BucketWidth } from '@switchyard/contracts/organization/usage-query.ts'
import { Fault } from '#platform/errors/fault.ts'

/** Seconds since the epoch; the end is exclusive. */
export interface UsageBucket {
  readonly start: number
  readonly end: number
}

export interface BucketPage {
  readonly buckets: readonly UsageBucket[]
  readonly nextPage: string | null
}

export interface SpanAsked {
  readonly start_time: number
  readonly end_time?: number | undefined
  readonly bucket_width: BucketWidth
  readonly page?: string | undefined
}

export const widthSeconds: Readonly<Record<BucketWidth, number>> = { '1m': 60, '1h': 3_600, '1d': 86_400 }

/** Where the bucket begins that holds a second. Minutes, hours and days of UTC all begin at multiples of themselves. */
export const alignedStart = (second: number, width: BucketWidth): number => second - (second % widthSeconds[width])

/** How many buckets a page of usage has. */
export function bucketLimit(width: BucketWidth, limit: number | undefined): number {
  const { default: fallback, max } = bucketCounts[width]
  if (limit !== undefined && limit > max) {
    throw new Fault('integer_above_max_value', `Invalid 'limit': at most ${max} buckets of ${width}.`, {
      param: 'limit',
    })
  }
  return limit ?? fallback
}

const pagePrefix = 'page_'
const pageRadix = 36

/** A page is named by where it begins. */
const pageName = (second: number): string => pagePrefix + second.toString(pageRadix)

/**
 * The buckets of one page. The first and the last are cut where the span begins and ends, so that each says exactly what
 * it counts. Without an end the span goes on through the bucket that is now.
 */
export function bucketPage(asked: SpanAsked, limit: number, now: Date): BucketPage {
  const { start_time: start, end_time: given, bucket_width: width, page } = asked
  if (given !== undefined && given <= start) {
    throw new Fault('invalid_value', "'end_time' must be later than 'start_time'.", { param: 'end_time' })
  }
  const after = (second: number) => alignedStart(second, width) + widthSeconds[width]
  const end = given ?? after(Math.floor(now.getTime() / 1_000))
  let at = page === undefined ? start : pageStart(page, asked, end)
  const buckets: UsageBucket[] = []
  while (at < end && buckets.length < limit) {
    buckets.push({ start: at, end: Math.min(after(at), end) })
    at = after(at)
  }
  return { buckets, nextPage: at < end ? pageName(at) : null }
}

function pageStart(page: string, { start_time: start, bucket_width: width }: SpanAsked, end: number): number {
  const second = Number.parseInt(page.slice(pagePrefix.length), pageRadix)
  const known = pageName(second) === page && second > start && second < end && alignedStart(second, width) === second
  if (!known) throw new Fault('invalid_value', 'This query has no such page.', { param: 'page' })
  return second
}

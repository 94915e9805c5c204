import { z } from 'zod'
import { timestamp } from './shared.ts'

const filterMax = 100
const idTextMax = 160
const pageTextMax = 40
const groupFieldsMax = 10
/** The last second of the year 9999. */
const secondMax = 253_402_300_799

export const bucketWidths = ['1m', '1h', '1d'] as const
export type BucketWidth = (typeof bucketWidths)[number]

/** How many buckets a page has, and may have. */
export const bucketCounts: Readonly<Record<BucketWidth, { readonly default: number; readonly max: number }>> = {
  '1m': { default: 60, max: 1_440 },
  '1h': { default: 24, max: 168 },
  '1d': { default: 7, max: 31 },
}

const second = z.coerce.number().int().min(0).max(secondMax)

export const texts = z.array(z.string().max(idTextMax)).min(1).max(filterMax).optional()
export const choices = <const Options extends readonly [string, ...string[]]>(...options: Options) =>
  z.array(z.enum(options)).min(1).max(filterMax).optional()

/** What every kind of usage can be asked for: the larger bound of `limit` depends on the width. */
export const usageQuery = <const Fields extends readonly [string, ...string[]]>(groupBy: Fields) =>
  z.strictObject({
    /** Inclusive. */
    start_time: second,
    /** Exclusive; default: the end of the bucket that is now. */
    end_time: second.optional(),
    bucket_width: z.enum(bucketWidths).default('1d'),
    limit: z.coerce.number().int().min(1).max(bucketCounts['1m'].max).optional(),
    page: z.string().max(pageTextMax).optional(),
    group_by: z.array(z.enum(groupBy)).min(1).max(groupFieldsMax).optional(),
    project_ids: texts,
  })

/** `true`, `false`, or both when absent. */
export const BatchFlag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()

export const usagePage = <Result extends z.ZodType>(result: Result) =>
  z.strictObject({
    object: z.literal('page'),
    data: z.array(
      z.strictObject({
        object: z.literal('bucket'),
        start_time: timestamp,
        end_time: timestamp,
        results: z.array(result),
      }),
    ),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  })

/** Null unless the results are grouped by it. */
export const group = z.string().nullable()
export const ApiSource = z.enum(['agents_api', 'unlabeled']).nullable()

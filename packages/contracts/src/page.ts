import { z } from 'zod'

export const pageLimitDefault = 20
export const pageLimitMax = 100
const cursorMax = 96

/** Query of a list: keyset paging by the id of the last item seen. */
export const pageQuery = (limits: { default?: number; max?: number } = {}) =>
  z.strictObject({
    after: z.string().max(cursorMax).optional(),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(limits.max ?? pageLimitMax)
      .default(limits.default ?? pageLimitDefault),
  })

export const Order = z.enum(['asc', 'desc']).default('desc')

/** The list envelope. `last_id` is what SDKs of both paging kinds need. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })

export interface Page<Item> {
  object: 'list'
  data: Item[]
  first_id: string | null
  last_id: string | null
  has_more: boolean
}

/** Wraps one page of views. `rows` may hold one more than `limit`, which says that there is more. */
export function pageView<Row, Item extends { id: string }>(
  rows: Row[],
  limit: number,
  view: (row: Row) => Item,
): Page<Item> {
  return cutPage(rows.slice(0, limit).map(view), rows.length > limit)
}

/** A page that was cut where it became too large. */
export function cutPage<Item extends { id: string }>(data: Item[], more: boolean): Page<Item> {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: more }
}

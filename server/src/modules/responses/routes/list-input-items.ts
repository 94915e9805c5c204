import { listInputItems } from '@switchyard/contracts/responses/operations.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { listOwnItems } from '../store/responses.ts'
import type { ResponsesTables } from '../store/tables.ts'
import { getResponse } from './retrieve-response.ts'

export const listInputItemsRoute = (use: { db: Db<ResponsesTables> }) =>
  route(listInputItems, async ({ scope, params, query }) => {
    const { id } = await getResponse(use.db, scope.projectId, params.response_id)
    const { input } = await listOwnItems(use.db, id)
    // A request's input is bounded by the size of a body, so it is paged here and not in the store.
    const items = query.order === 'asc' ? input : input.toReversed()
    const at = query.after === undefined ? -1 : items.findLastIndex((item) => item.id === query.after)
    if (query.after !== undefined && at < 0) {
      throw new Fault('invalid_value', 'No item with the id given in after.', { param: 'after' })
    }
    return pageView(items.slice(at + 1, at + 2 + query.limit), query.limit, (item) => item)
  })

import { retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { responseView, type ResponseState } from '../domain/response-view.ts'
import { findResponse } from '../store/responses.ts'
import type { ResponsesTables } from '../store/tables.ts'
import { feedStream, type FeedStreamUses } from './feed-stream.ts'

export const retrieveResponseRoute = (use: FeedStreamUses & { db: Db<ResponsesTables> }) =>
  route(retrieveResponse, async ({ scope, params, query, request }) => {
    const state = await getResponse(use.db, scope.projectId, params.response_id)
    if (query.stream !== true) {
      if (query.starting_after !== undefined) {
        throw new Fault('invalid_value', 'starting_after is for streams: add stream=true.', { param: 'starting_after' })
      }
      return responseView(state)
    }
    if (!state.asked.background) {
      throw new Fault('stream_not_available', 'Only background responses can be streamed again.', { param: 'stream' })
    }
    return feedStream(use, state.id, query.starting_after ?? -1, request.signal, query.include_obfuscation)
  })

export async function getResponse(db: Db<ResponsesTables>, projectId: string, id: string): Promise<ResponseState> {
  const state = await findResponse(db, projectId, id)
  if (state === null) throw new Fault('not_found', 'No such response.', { param: 'response_id' })
  return state
}

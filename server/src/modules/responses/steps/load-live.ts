import type { Db } from '#platform/db/db.ts'
import { settleCalls } from '../domain/answers.ts'
import { noUsage, type LiveResponse } from '../domain/live-response.ts'
import type { ResponseState } from '../domain/response-view.ts'
import { findConversationItems } from '../store/conversation-items.ts'
import { findHistory, findResponse, listOwnItems } from '../store/responses.ts'
import { meteringOf } from '../store/reservations.ts'
import type { Claimed } from '../store/running.ts'
import type { ResponsesTables } from '../store/tables.ts'
import type { Accepted } from './accept.ts'

export interface Loaded {
  readonly accepted: Accepted
  readonly createdAt: Date
}

/** A background response as it stands, from the store alone. Null when it is gone. */
export async function loadLive(
  db: Db<ResponsesTables>,
  id: string,
  step: number,
  claimed: Claimed,
): Promise<Loaded | null> {
  const state = await findResponse(db, claimed.project_id, id)
  if (state === null) return null
  const [history, { input, output }] = await Promise.all([
    readHistory(db, claimed.project_id, state),
    listOwnItems(db, id),
  ])
  const live: LiveResponse = {
    id,
    projectId: claimed.project_id,
    metering: meteringOf(claimed),
    asked: state.asked,
    context: settleCalls([...history, ...input]),
    output,
    usage: claimed.usage ?? noUsage,
    nextOutputIndex: claimed.next_output_index,
    turns: step,
  }
  const { previousId, conversationId } = state
  return {
    accepted: { live, input, previousId, conversationId, conversationVersion: null },
    createdAt: state.createdAt,
  }
}

async function readHistory(db: Db<ResponsesTables>, projectId: string, state: ResponseState) {
  if (state.conversationId !== null) {
    return (await findConversationItems(db, projectId, state.conversationId))?.items ?? []
  }
  if (state.previousId === null) return []
  return (await findHistory(db, projectId, state.previousId))?.items ?? []
}

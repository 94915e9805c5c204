import type { OutputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { Limits, UsageEntry } from '#modules/limits/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { settleCalls } from '../domain/answers.ts'
import type { Ending, LiveResponse } from '../domain/live-response.ts'
import type { ResponseState } from '../domain/response-view.ts'
import { appendConversationItems } from '../store/conversation-items.ts'
import { touchConversation } from '../store/conversations.ts'
import { endResponse, type Ended, type EndedRow, type Holder } from '../store/lifecycle.ts'
import type { Accepted } from './accept.ts'

export interface CloseUses {
  readonly publish: Webhooks['publish']
  readonly limits: Limits
}

export function endedOf(ending: Ending, usage: Usage | null): Ended {
  return {
    status: ending.status,
    error: ending.status === 'failed' ? ending.error : null,
    incompleteReason: ending.status === 'incomplete' ? ending.reason : null,
    usage,
  }
}

export interface Closing {
  readonly id: string
  readonly conversationId: string | null
  readonly holder: Holder
  readonly ending: Ending
  readonly usage: Usage | null
  /** What its model calls used that is not in the ledger yet. */
  readonly entries: readonly UsageEntry[]
  /** Items that are not stored yet. */
  readonly newItems: readonly OutputItem[]
  /** All that the request brought and the response said: what its conversation, if any, keeps. */
  readonly input: readonly StoredItem[]
  readonly output: readonly OutputItem[]
}

/** Ends a response: its state, its items, its conversation and its event, or none of them. Null: it had ended before. */
export async function closeResponse(use: CloseUses, tx: Tx, closing: Closing): Promise<EndedRow | null> {
  const { id, holder, ending, conversationId } = closing
  // Before the row of the response: who begins one takes them in the same order, and neither waits for the other for ever.
  if (conversationId !== null) await touchConversation(tx, conversationId)
  const row = await endResponse(tx, id, holder, endedOf(ending, closing.usage), closing.newItems)
  if (row === null) return null
  if (row.conversation_id !== null) {
    const said = ending.status === 'completed' || ending.status === 'incomplete' ? closing.output : []
    await appendConversationItems(tx, row.conversation_id, settleCalls([...closing.input, ...said]))
  }
  await use.limits.record(tx, closing.entries)
  await use.publish(tx, endingNews(row.project_id, id, ending))
  return row
}

export function endingNews(projectId: string, id: string, { status }: Ending): Parameters<CloseUses['publish']>[1] {
  return { projectId: projectId as ProjectId, type: `response.${status}`, data: { id } }
}

/** A response as it is now; with an ending, as it ended. */
export function stateOf(
  { previousId, conversationId }: Pick<Accepted, 'previousId' | 'conversationId'>,
  live: LiveResponse,
  createdAt: Date,
  ended: { ending: Ending; at: Date } | null,
): ResponseState {
  return {
    id: live.id,
    createdAt,
    asked: live.asked,
    previousId,
    conversationId,
    status: ended?.ending.status ?? 'in_progress',
    completedAt: ended?.at ?? null,
    error: ended?.ending.status === 'failed' ? ended.ending.error : null,
    incompleteReason: ended?.ending.status === 'incomplete' ? ended.ending.reason : null,
    usage: ended === null ? null : live.usage,
    output: live.output,
  }
}

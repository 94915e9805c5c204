import type { Response } from '@switchyard/contracts/responses/response.ts'
import type { Tx } from '#platform/db/tx.ts'
import { EventNumbers } from '../domain/number-events.ts'
import { responseView } from '../domain/response-view.ts'
import { insertEvents, type EventBatch } from '../store/events.ts'
import { insertResponse } from '../store/lifecycle.ts'
import { countSubmitted } from '../store/running.ts'
import type { Accepted } from './accept.ts'
import { stateOf } from './close-response.ts'
import { orLocked } from './foreground.ts'

export interface QueueUses {
  /** Background responses of one project that are under way at once. The rest wait their turn. */
  readonly backgroundMax: number
  readonly announce: (batches: readonly EventBatch[]) => void
  readonly submitStep: (tx: Tx, step: { id: string; step: number; generation: number }) => Promise<void>
}

const eventsAtStart = 2

/** Accepts a background response: its row, its first events and its first step commit together. */
export async function queueResponse(use: QueueUses, tx: Tx, accepted: Accepted): Promise<Response> {
  const { live, input, previousId, conversationId, conversationVersion } = accepted
  const { id, projectId, asked } = live
  const submitted = (await countSubmitted(tx, projectId, use.backgroundMax)) < use.backgroundMax
  const createdAt = await orLocked(
    insertResponse(tx, {
      id,
      projectId,
      metering: live.metering,
      asked,
      previousId,
      conversationId,
      conversationVersion,
      input,
      node: null,
      submitted,
      nextNumber: eventsAtStart,
    }),
  )
  const response = responseView({ ...stateOf(accepted, live, createdAt, null), status: 'queued' })
  const numbers = new EventNumbers(0, false)
  const events = (['response.created', 'response.queued'] as const).map((type) => numbers.number({ type, response }))
  const lines = events.map((event) => JSON.stringify(event)).join('\n')
  const batch = { responseId: id, first: 0, last: eventsAtStart - 1, lines }
  await insertEvents(tx, [batch])
  if (submitted) await use.submitStep(tx, { id, step: 0, generation: 0 })
  tx.afterCommit(() => use.announce([batch]))
  return response
}

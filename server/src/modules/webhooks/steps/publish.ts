import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { WebhookEvent, WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import type { Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import { newId } from '#platform/std/ids.ts'
import { insertEvents, insertUrgentEvents, type InsertedDue, type NewEvent } from '../store/events.ts'
import type { WebhooksTables } from '../store/tables.ts'
import { urgentLeaseMs } from '../dispatch/urgent-sender.ts'

export interface News {
  readonly projectId: ProjectId
  readonly type: WebhookEventType
  readonly data: Readonly<Record<string, unknown>>
}

export interface PublishUses {
  readonly now: () => Date
  /** Due rows of urgent events, right after their commit. */
  readonly sendUrgent: (rows: readonly InsertedDue[], bodyOf: (eventId: string) => string) => void
  /** Something is due: whoever sends in this process may look now. */
  readonly kick: () => void
}

/** Events whose receiver is waiting on the line. */
const urgentTypes: ReadonlySet<WebhookEventType> = new Set(['realtime.call.incoming'])
const newsMax = 10_000

export function eventOf(type: WebhookEventType, data: News['data'], now: Date): WebhookEvent {
  return {
    id: newId('evt_', now.getTime()),
    object: 'event',
    type,
    created_at: Math.floor(now.getTime() / 1_000),
    data,
  }
}

interface UrgentEvent extends NewEvent {
  readonly urgent: boolean
}

function newEventOf(use: Pick<PublishUses, 'now'>, { projectId, type, data }: News): UrgentEvent {
  const event = eventOf(type, data, use.now())
  return {
    id: event.id,
    projectId,
    type,
    createdAt: new Date(event.created_at * 1_000),
    body: JSON.stringify(event),
    urgent: urgentTypes.has(type),
  }
}

/** Writes events and their deliveries in the caller's transaction: neither exists without the state change they tell of. */
export async function publish(use: PublishUses, tx: Tx, news: readonly News[]): Promise<string[]> {
  assert(news.length <= newsMax, 'one publish is bounded')
  const events = news.map((one) => newEventOf(use, one))
  const urgent = events.filter((event) => event.urgent)
  const bulk = events.filter((event) => !event.urgent)
  if (bulk.length > 0) {
    const anybody = await insertEvents(tx, bulk)
    if (anybody) tx.afterCommit(use.kick)
  }
  if (urgent.length > 0) {
    const rows = await insertUrgentEvents(tx, urgent, urgentLeaseMs)
    const bodies = new Map(urgent.map(({ id, body }) => [id, body]))
    tx.afterCommit(() => use.sendUrgent(rows, (id) => bodies.get(id) ?? ''))
  }
  return events.map(({ id }) => id)
}

/** For a process that sends nothing itself: the workers find what is due when they look. */
export const publisherWithoutSender =
  (now: () => Date) =>
  (tx: Tx, ...news: News[]): Promise<string[]> =>
    publish({ now, kick: () => undefined, sendUrgent: () => undefined }, tx, news)

const eventsMax = 1_000
const statementsMax = 1

/** For news of what is kept nowhere else: a statement of its own, shared with whatever is published at the same time. */
export function publisherAlone(use: PublishUses & { readonly db: Db<WebhooksTables> }): (news: News) => Promise<void> {
  const insertions = new Gathered(
    async (events: readonly NewEvent[]) => {
      if (await insertEvents(use.db, events)) use.kick()
      return []
    },
    { batchMax: eventsMax, atOnceMax: statementsMax },
  )
  return async (news) => {
    const event = newEventOf(use, news)
    assert(!event.urgent, 'an urgent event is published with what it tells of')
    await insertions.ask(event)
  }
}

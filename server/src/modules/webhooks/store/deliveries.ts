import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { Ending, WebhooksTables } from './tables.ts'

export interface DeliveryRow {
  endpoint_id: string
  event_id: string
  event_type: string
  event_created_at: Date
  /** Null once it ended. */
  due_at: Date | null
  attempts: number
  ended: Ending | null
  last_at: Date | null
  last_status_code: number | null
  last_outcome: string | null
}

/** A delivery is either still due or ended by its last attempt; each of the two lists is in the order of its index. */
const deliveries = (where: string) => `
  select x.endpoint_id, x.event_id, e.type as event_type, e.created_at as event_created_at, x.due_at,
         coalesce(l.number, 0) as attempts, case when x.due_at is null then l.ended end as ended,
         l.at as last_at, l.status_code as last_status_code, l.outcome as last_outcome
  from (${where}) x
  join webhooks.event e on e.id = x.event_id
  left join lateral (select number, at, status_code, outcome, ended from webhooks.attempt a
    where a.event_id = x.event_id and a.endpoint_id = x.endpoint_id order by number desc limit 1) l on true
  order by x.event_id desc`

const openOnes = `select endpoint_id, event_id, due_at from webhooks.due
  where endpoint_id = $1 and ($2::text is null or event_id < $2) order by event_id desc limit $3`

const endedOnes = (
  filter: string,
) => `select a.endpoint_id, a.event_id, null::timestamptz as due_at from webhooks.attempt a
  where a.endpoint_id = $1 and ($2::text is null or a.event_id < $2) and a.ended is not null ${filter}
    and not exists (select 1 from webhooks.due d where d.endpoint_id = a.endpoint_id and d.event_id = a.event_id)
    and not exists (select 1 from webhooks.attempt b
      where b.event_id = a.event_id and b.endpoint_id = a.endpoint_id and b.number > a.number)
  order by a.event_id desc limit $3`

type ListParams = [string, string | null, number]

const list = {
  all: statement<ListParams, DeliveryRow>(
    'webhooks.deliveries-all',
    deliveries(`select * from ((${openOnes}) union all (${endedOnes('')})) b order by event_id desc limit $3`),
  ),
  open: statement<ListParams, DeliveryRow>('webhooks.deliveries-open', deliveries(openOnes)),
  delivered: statement<ListParams, DeliveryRow>(
    'webhooks.deliveries-delivered',
    deliveries(endedOnes(`and a.ended = 'delivered'`)),
  ),
  failed: statement<ListParams, DeliveryRow>(
    'webhooks.deliveries-failed',
    deliveries(endedOnes(`and a.ended = 'failed'`)),
  ),
  discarded: statement<ListParams, DeliveryRow>(
    'webhooks.deliveries-discarded',
    deliveries(endedOnes(`and a.ended = 'discarded'`)),
  ),
}

export type DeliveryFilter = keyof typeof list

export async function listDeliveries(
  db: Db<WebhooksTables>,
  endpointId: string,
  page: { filter: DeliveryFilter; afterEventId: string | null; limit: number },
): Promise<DeliveryRow[]> {
  return await db.run(list[page.filter], [endpointId, page.afterEventId, page.limit + 1])
}

const one = statement<[string, string, string], DeliveryRow & { body: string }>(
  'webhooks.delivery',
  `select $1 as endpoint_id, e.id as event_id, e.type as event_type, e.created_at as event_created_at, e.body, d.due_at,
          coalesce(l.number, 0) as attempts, case when d.due_at is null then l.ended end as ended,
          l.at as last_at, l.status_code as last_status_code, l.outcome as last_outcome
   from webhooks.event e
   left join webhooks.due d on d.endpoint_id = $1 and d.event_id = e.id
   left join lateral (select number, at, status_code, outcome, ended from webhooks.attempt a
     where a.event_id = e.id and a.endpoint_id = $1 order by number desc limit 1) l on true
   where e.id = $2 and e.project_id = $3 and (d.due_at is not null or l.number is not null)`,
)

export async function findDelivery(
  db: Db<WebhooksTables>,
  projectId: string,
  delivery: { eventId: string; endpointId: string },
): Promise<(DeliveryRow & { body: string }) | null> {
  const [row] = await db.run(one, [delivery.endpointId, delivery.eventId, projectId])
  return row ?? null
}

export interface AttemptRow {
  number: number
  at: Date
  duration_ms: number
  url: string
  status_code: number | null
  outcome: string
  response_start: string | null
  next_at: Date | null
}

const attempts = statement<[string, string, number], AttemptRow>(
  'webhooks.attempts',
  `select number, at, duration_ms, url, status_code, outcome, response_start, next_at from webhooks.attempt
   where event_id = $1 and endpoint_id = $2 order by number desc limit $3`,
)

export async function listAttempts(
  db: Db<WebhooksTables>,
  delivery: { eventId: string; endpointId: string },
  limit: number,
): Promise<AttemptRow[]> {
  return (await db.run(attempts, [delivery.eventId, delivery.endpointId, limit])).toReversed()
}

import type { WebhookAttempt, WebhookDelivery } from '@switchyard/contracts/webhooks.ts'
import { deliveryId, webhookIdOf } from '../domain/delivery-id.ts'
import type { AttemptRow, DeliveryRow } from '../store/deliveries.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)
const orNull = (at: Date | null) => (at === null ? null : seconds(at))

function statusOf(row: DeliveryRow): WebhookDelivery['status'] {
  if (row.due_at === null) return row.ended ?? 'discarded'
  return row.attempts === 0 ? 'pending' : 'retrying'
}

export function deliveryView(row: DeliveryRow): WebhookDelivery {
  const failed = row.last_outcome !== null && row.last_outcome !== 'delivered'
  return {
    id: deliveryId(row.event_id, row.endpoint_id),
    object: 'webhook_delivery',
    webhook_endpoint_id: row.endpoint_id as WebhookDelivery['webhook_endpoint_id'],
    event_id: row.event_id,
    event_type: row.event_type,
    webhook_id: webhookIdOf(row.event_id),
    status: statusOf(row),
    attempts: row.attempts,
    last_status_code: row.last_status_code,
    last_error: failed ? row.last_outcome : null,
    next_attempt_at: orNull(row.due_at),
    created_at: seconds(row.event_created_at),
    ended_at: row.due_at === null ? orNull(row.last_at) : null,
  }
}

export function attemptView(row: AttemptRow): WebhookAttempt {
  return {
    number: row.number,
    at: seconds(row.at),
    duration_ms: row.duration_ms,
    url: row.url,
    status_code: row.status_code,
    outcome: row.outcome,
    response_start: row.response_start,
    next_attempt_at: orNull(row.next_at),
  }
}

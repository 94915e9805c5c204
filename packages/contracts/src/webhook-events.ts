import { z } from 'zod'

/** Event types that can be subscribed to. A module that arrives with events of its own adds them here. */
export const webhookEventTypes = [
  'batch.cancelled',
  'batch.completed',
  'batch.expired',
  'batch.failed',
  'eval.run.canceled',
  'eval.run.failed',
  'eval.run.succeeded',
  'fine_tuning.job.cancelled',
  'fine_tuning.job.failed',
  'fine_tuning.job.succeeded',
  'organization.usage_tier.updated',
  'realtime.call.incoming',
  'response.cancelled',
  'response.completed',
  'response.failed',
  'response.incomplete',
  'webhook_endpoint.disabled',
] as const

export const WebhookEventType = z.enum(webhookEventTypes)
export type WebhookEventType = z.infer<typeof WebhookEventType>

/** The JSON body of a delivery. */
export interface WebhookEvent {
  readonly id: string
  readonly object: 'event'
  readonly type: WebhookEventType
  /** Unix seconds. */
  readonly created_at: number
  readonly data: Readonly<Record<string, unknown>>
}

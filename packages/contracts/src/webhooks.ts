import { z } from 'zod'
import { WebhookDeliveryId, WebhookEndpointId, WebhookSecretId } from './ids.ts'
import { operation } from './operation.ts'
import { pageOf, pageQuery } from './page.ts'
import { WebhookEventType } from './webhook-events.ts'

const nameMax = 256
const urlMax = 2_048
const eventTypesMax = 100
/** A month: long enough for any roll-out, and an old secret does not live for ever by oversight. */
export const secretOverlapSecondsMax = 30 * 86_400
export const secretsActiveMax = 10

const timestamp = z.int().nonnegative()
/** Year 9999: later moments have no id. */
const moment = timestamp.max(253_402_300_799)
const eventTypes = z.array(WebhookEventType).min(1).max(eventTypesMax)

export const WebhookSecret = z
  .strictObject({
    id: WebhookSecretId,
    hint: z.string(),
    created_at: timestamp,
    /** Null while it is the current one; otherwise the moment it stops signing. */
    active_until: timestamp.nullable(),
  })
  .meta({ id: 'WebhookSecret' })

const endpointFields = {
  id: WebhookEndpointId,
  object: z.literal('webhook_endpoint'),
  name: z.string(),
  url: z.string(),
  event_types: z.array(z.string()),
  created_at: timestamp,
  updated_at: timestamp,
  signing_secret_hint: z.string().nullable(),
  /** Ours: `paused` by its owner, `disabled` by the server after days of failure. Deliveries wait meanwhile. */
  status: z.enum(['active', 'paused', 'disabled']),
  disabled_reason: z.string().nullable(),
  failing_since: timestamp.nullable(),
  secrets: z.array(WebhookSecret),
}

export const WebhookEndpoint = z.strictObject(endpointFields).meta({ id: 'WebhookEndpoint' })
export const WebhookEndpointWithSecret = z
  .strictObject({ ...endpointFields, signing_secret: z.string() })
  .meta({ id: 'WebhookEndpointWithSecret' })

export const WebhookDelivery = z
  .strictObject({
    id: WebhookDeliveryId,
    object: z.literal('webhook_delivery'),
    webhook_endpoint_id: WebhookEndpointId,
    event_id: z.string(),
    event_type: z.string(),
    webhook_id: z.string(),
    status: z.enum(['pending', 'retrying', 'delivered', 'failed', 'discarded']),
    attempts: z.int().nonnegative(),
    last_status_code: z.int().nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' })

export const WebhookAttempt = z
  .strictObject({
    number: z.int().positive(),
    at: timestamp,
    duration_ms: z.int().nonnegative(),
    url: z.string(),
    status_code: z.int().nullable(),
    outcome: z.string(),
    response_start: z.string().nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookAttempt' })

export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>
export type WebhookEndpointWithSecret = z.infer<typeof WebhookEndpointWithSecret>
export type WebhookDelivery = z.infer<typeof WebhookDelivery>
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

const endpointParams = z.strictObject({ webhook_endpoint_id: WebhookEndpointId })
const deliveryParams = z.strictObject({ delivery_id: WebhookDeliveryId })
const read = { auth: 'project_key', scope: 'webhooks.read' } as const
const write = { auth: 'project_key', scope: 'webhooks.write' } as const
const empty = z.strictObject({})

export const createWebhookEndpoint = operation({
  id: 'webhooks.create',
  method: 'POST',
  path: '/v1/webhook_endpoints',
  summary: 'Add an endpoint; its signing secret is shown this once.',
  ...write,
  body: z.strictObject({
    name: z.string().min(1).max(nameMax),
    url: z.string().min(1).max(urlMax),
    event_types: eventTypes,
  }),
  reply: WebhookEndpointWithSecret,
  faults: ['invalid_state_transition'],
  creates: true,
  showsSecret: true,
})

export const listWebhookEndpoints = operation({
  id: 'webhooks.list',
  method: 'GET',
  path: '/v1/webhook_endpoints',
  summary: 'List the endpoints of the project, newest first.',
  ...read,
  query: pageQuery(),
  reply: pageOf(WebhookEndpoint),
})

export const retrieveWebhookEndpoint = operation({
  id: 'webhooks.retrieve',
  method: 'GET',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}',
  summary: 'Read an endpoint.',
  ...read,
  params: endpointParams,
  reply: WebhookEndpoint,
  faults: ['not_found'],
})

export const updateWebhookEndpoint = operation({
  id: 'webhooks.update',
  method: 'POST',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}',
  summary: 'Change name, address or event types; the list given replaces the whole set.',
  ...write,
  params: endpointParams,
  body: z.strictObject({
    name: z.string().min(1).max(nameMax).optional(),
    url: z.string().min(1).max(urlMax).optional(),
    event_types: eventTypes.optional(),
  }),
  bodyOptional: true,
  reply: WebhookEndpoint,
  faults: ['not_found'],
})

export const deleteWebhookEndpoint = operation({
  id: 'webhooks.delete',
  method: 'DELETE',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}',
  summary: 'Remove an endpoint; what was still to be sent to it is discarded.',
  ...write,
  params: endpointParams,
  reply: z.strictObject({
    id: WebhookEndpointId,
    object: z.literal('webhook_endpoint.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found'],
})

export const rotateWebhookSecret = operation({
  id: 'webhooks.rotateSecret',
  method: 'POST',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}/rotate_secret',
  summary: 'Make a new signing secret, shown this once; the old one can go on signing beside it for a while.',
  ...write,
  params: endpointParams,
  body: z.strictObject({
    keep_old_secret_active_for_24_hours: z.boolean().optional(),
    keep_old_secret_active_for_seconds: z.int().min(0).max(secretOverlapSecondsMax).optional(),
  }),
  bodyOptional: true,
  reply: WebhookEndpointWithSecret,
  faults: ['not_found', 'mutually_exclusive_parameters', 'invalid_state_transition'],
  creates: true,
  showsSecret: true,
})

export const retireWebhookSecret = operation({
  id: 'webhooks.secrets.retire',
  method: 'POST',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}/secrets/{secret_id}/retire',
  summary: 'End the overlap of an old secret now.',
  ...write,
  params: endpointParams.extend({ secret_id: WebhookSecretId }),
  body: empty,
  bodyOptional: true,
  reply: WebhookEndpoint,
  faults: ['not_found', 'invalid_state_transition'],
})

export const testWebhookEndpoint = operation({
  id: 'webhooks.test',
  method: 'POST',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}/test',
  summary: 'Send a sample event of the type now, and say what came back.',
  ...write,
  params: endpointParams,
  body: z.strictObject({ event_type: WebhookEventType }),
  reply: z.strictObject({
    object: z.literal('webhook_endpoint.test'),
    webhook_endpoint_id: WebhookEndpointId,
    event_type: z.string(),
    status_code: z.int(),
    success: z.boolean(),
  }),
  faults: ['not_found', 'webhook_test_failed'],
})

const pauseOrResume = (id: 'pause' | 'resume', summary: string) =>
  operation({
    id: `webhooks.${id}`,
    method: 'POST',
    path: `/v1/webhook_endpoints/{webhook_endpoint_id}/${id}`,
    summary,
    ...write,
    params: endpointParams,
    body: empty,
    bodyOptional: true,
    reply: WebhookEndpoint,
    faults: ['not_found'],
  })

export const pauseWebhookEndpoint = pauseOrResume('pause', 'Hold deliveries back; they wait, within their 72 hours.')
export const resumeWebhookEndpoint = pauseOrResume(
  'resume',
  'Send again, after a pause or after the server disabled the endpoint.',
)

export const listWebhookEventTypes = operation({
  id: 'webhooks.eventTypes.list',
  method: 'GET',
  path: '/v1/webhook_event_types',
  summary: 'List the event types that can be subscribed to.',
  ...read,
  reply: z.strictObject({ object: z.literal('list'), data: z.array(z.string()) }),
})

export const listWebhookDeliveries = operation({
  id: 'webhooks.deliveries.list',
  method: 'GET',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}/deliveries',
  summary: 'List what was sent or is still to be sent to an endpoint, newest first.',
  ...read,
  params: endpointParams,
  query: pageQuery().extend({ status: z.enum(['open', 'delivered', 'failed', 'discarded']).optional() }),
  reply: pageOf(WebhookDelivery),
  faults: ['not_found'],
})

export const retrieveWebhookDelivery = operation({
  id: 'webhooks.deliveries.retrieve',
  method: 'GET',
  path: '/v1/webhook_deliveries/{delivery_id}',
  summary: 'Read a delivery with every attempt.',
  ...read,
  params: deliveryParams,
  reply: WebhookDelivery.extend({ attempt_log: z.array(WebhookAttempt), payload: z.unknown() }).meta({
    id: 'WebhookDeliveryWithLog',
  }),
  faults: ['not_found'],
})

export const redeliverWebhook = operation({
  id: 'webhooks.deliveries.redeliver',
  method: 'POST',
  path: '/v1/webhook_deliveries/{delivery_id}/redeliver',
  summary: 'Send the same event again, with the same webhook-id.',
  ...write,
  params: deliveryParams,
  body: empty,
  bodyOptional: true,
  reply: WebhookDelivery,
  faults: ['not_found'],
})

export const replayWebhooks = operation({
  id: 'webhooks.replay',
  method: 'POST',
  path: '/v1/webhook_endpoints/{webhook_endpoint_id}/replay',
  summary: 'Send the events of a span of time again; a dry run only counts them.',
  ...write,
  params: endpointParams,
  body: z.strictObject({
    after: moment,
    before: moment,
    event_types: eventTypes.optional(),
    only_failed: z.boolean().default(false),
    dry_run: z.boolean().default(false),
  }),
  reply: z.strictObject({
    object: z.literal('webhook_endpoint.replay'),
    webhook_endpoint_id: WebhookEndpointId,
    dry_run: z.boolean(),
    events: z.int().nonnegative(),
  }),
  faults: ['not_found', 'replay_too_large'],
})

export const webhookOperations = [
  createWebhookEndpoint,
  listWebhookEndpoints,
  retrieveWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  retireWebhookSecret,
  testWebhookEndpoint,
  pauseWebhookEndpoint,
  resumeWebhookEndpoint,
  listWebhookEventTypes,
  listWebhookDeliveries,
  retrieveWebhookDelivery,
  redeliverWebhook,
  replayWebhooks,
] as const

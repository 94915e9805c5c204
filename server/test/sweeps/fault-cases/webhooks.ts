import {
  createWebhookEndpoint,
  rotateWebhookSecret,
  secretsActiveMax,
  type webhookOperations,
} from '@switchyard/contracts/webhooks.ts'
import { sql } from 'kysely'
import { firstIdAt } from '#platform/std/ids.ts'
import { endpointBody, newEndpoint } from '../examples/webhooks.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const none = { webhook_endpoint_id: 'whe_none' }
const missing =
  (body?: Record<string, unknown>): FaultCase =>
  async () => ({ params: none, ...(body && { body }), param: 'webhook_endpoint_id' })
const noDelivery: FaultCase = async () => ({ params: { delivery_id: 'whd_none' }, param: 'delivery_id' })

const replayMax = 100_000
const replaySecond = 1_000_000_000

/** One event more than a replay sends, all in one second of long ago. */
async function addTooManyEvents(at: Place): Promise<() => Promise<unknown>> {
  const first = firstIdAt('evt_', replaySecond * 1_000).slice(0, -6)
  await sql`insert into webhooks.event (id, project_id, type, created_at, body)
    select ${first} || lpad(number::text, 6, '0'), ${at.project.id}, 'response.completed', clock_timestamp(), '{}'
    from generate_series(1, ${replayMax + 1}) number`.execute(at.app.db.kysely)
  return () => sql`delete from webhooks.event where id like ${`${first}%`}`.execute(at.app.db.kysely)
}

const endpointsMax = 100

export const webhookFaults: FaultCases<typeof webhookOperations> = {
  'webhooks.create': {
    async invalid_state_transition(at) {
      // Of a project of its own: the other cases still need room in theirs.
      await sql`insert into webhooks.endpoint (id, project_id, name, url, event_types)
        select 'whe_many' || number, ${at.app.other.id}, 'one of many', 'https://example.com/', '{batch.failed}'
        from generate_series(1, ${endpointsMax}) number`.execute(at.app.db.kysely)
      return { body: endpointBody(at), key: at.app.other.key, param: null }
    },
  },
  'webhooks.retrieve': { not_found: missing() },
  'webhooks.update': { not_found: missing({ name: 'x' }) },
  'webhooks.delete': { not_found: missing() },
  'webhooks.rotateSecret': {
    not_found: missing(),
    mutually_exclusive_parameters: async (at) => ({
      params: await newEndpoint(at),
      body: { keep_old_secret_active_for_24_hours: true, keep_old_secret_active_for_seconds: 60 },
      param: 'keep_old_secret_active_for_seconds',
    }),
    async invalid_state_transition(at) {
      const params = await newEndpoint(at)
      const body = { keep_old_secret_active_for_seconds: 3_600 }
      for (let active = 1; active < secretsActiveMax; active += 1) await make(at, rotateWebhookSecret, { params, body })
      return { params, body, param: null }
    },
  },
  'webhooks.secrets.retire': {
    not_found: async (at) => ({ params: { ...(await newEndpoint(at)), secret_id: 'whsk_none' }, param: 'secret_id' }),
    async invalid_state_transition(at) {
      const { id, secrets } = await make(at, createWebhookEndpoint, { body: endpointBody(at) })
      return { params: { webhook_endpoint_id: id, secret_id: secrets[0]?.id ?? '' }, param: 'secret_id' }
    },
  },
  'webhooks.test': {
    not_found: missing({ event_type: 'response.completed' }),
    async webhook_test_failed(at) {
      const body = { ...endpointBody(at), url: 'http://127.0.0.1:1/nobody-listens' }
      const { id } = await make(at, createWebhookEndpoint, { body })
      return { params: { webhook_endpoint_id: id }, body: { event_type: 'response.completed' }, param: 'url' }
    },
  },
  'webhooks.pause': { not_found: missing() },
  'webhooks.resume': { not_found: missing() },
  'webhooks.deliveries.list': { not_found: missing() },
  'webhooks.deliveries.retrieve': { not_found: noDelivery },
  'webhooks.deliveries.redeliver': { not_found: noDelivery },
  'webhooks.replay': {
    not_found: missing({ after: 0, before: 1 }),
    async replay_too_large(at) {
      const params = await newEndpoint(at)
      const undo = await addTooManyEvents(at)
      return { params, body: { after: replaySecond, before: replaySecond + 1, dry_run: true }, undo, param: 'before' }
    },
  },
}

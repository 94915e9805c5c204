import {
  createWebhookEndpoint,
  listWebhookDeliveries,
  rotateWebhookSecret,
  type webhookOperations,
} from '@switchyard/contracts/webhooks.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

/** The server itself is somebody who answers, if only that there is no such path. */
export const endpointBody = (at: Place, path = '/hook') => ({
  name: 'A receiver',
  url: `${at.app.baseUrl}${path}`,
  event_types: ['response.completed'],
})

export async function newEndpoint(at: Place): Promise<{ webhook_endpoint_id: string }> {
  const { id } = await make(at, createWebhookEndpoint, { body: endpointBody(at) })
  return { webhook_endpoint_id: id }
}

/** An endpoint and the id of the secret that a rotation left signing beside the new one. */
export async function newOldSecret(at: Place): Promise<{ webhook_endpoint_id: string; secret_id: string }> {
  const params = await newEndpoint(at)
  const { secrets } = await make(at, rotateWebhookSecret, {
    params,
    body: { keep_old_secret_active_for_seconds: 3_600 },
  })
  return { ...params, secret_id: secrets.find((secret) => secret.active_until !== null)?.id ?? '' }
}

async function newDelivery(at: Place): Promise<{ webhook_endpoint_id: string; delivery_id: string }> {
  const params = await newEndpoint(at)
  await at.app.db.tx((tx) =>
    at.app.wired.webhooks.publish(tx, { projectId: at.project.id, type: 'response.completed', data: { id: 'x' } }),
  )
  const { data } = await make(at, listWebhookDeliveries, { params })
  return { ...params, delivery_id: data[0]?.id ?? '' }
}

const onEndpoint: MakeExample = async (at) => ({ params: await newEndpoint(at) })
const onDelivery: MakeExample = async (at) => ({ params: { delivery_id: (await newDelivery(at)).delivery_id } })

export const webhookExamples: Record<(typeof webhookOperations)[number]['id'], MakeExample> = {
  'webhooks.create': async (at) => ({ body: endpointBody(at) }),
  'webhooks.list': async (at) => ({
    query: { after: (await newEndpoint(at)).webhook_endpoint_id },
    references: ['query.after'],
  }),
  'webhooks.retrieve': onEndpoint,
  'webhooks.update': async (at) => ({ params: await newEndpoint(at), body: { name: 'Renamed' } }),
  'webhooks.delete': onEndpoint,
  'webhooks.rotateSecret': async (at) => ({
    params: await newEndpoint(at),
    body: { keep_old_secret_active_for_24_hours: true },
  }),
  'webhooks.secrets.retire': async (at) => ({ params: await newOldSecret(at) }),
  'webhooks.test': async (at) => ({ params: await newEndpoint(at), body: { event_type: 'response.completed' } }),
  'webhooks.pause': onEndpoint,
  'webhooks.resume': onEndpoint,
  'webhooks.eventTypes.list': async () => ({}),
  'webhooks.deliveries.list': async (at) => {
    const { delivery_id: last, ...params } = await newDelivery(at)
    return { params, query: { after: last }, references: ['query.after'] }
  },
  'webhooks.deliveries.retrieve': onDelivery,
  'webhooks.deliveries.redeliver': onDelivery,
  'webhooks.replay': async (at) => ({ params: await newEndpoint(at), body: { after: 0, before: 1, dry_run: true } }),
}

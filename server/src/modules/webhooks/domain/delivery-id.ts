import type { WebhookDeliveryId } from '@switchyard/contracts/ids.ts'

const suffixLength = 26
const shape = new RegExp(`^whd_([0-9a-z]{${suffixLength}})_([0-9a-z]{${suffixLength}})$`)

/** A delivery is one event for one endpoint; its id says which, so that nothing else needs to. */
export function deliveryId(eventId: string, endpointId: string): WebhookDeliveryId {
  return `whd_${eventId.slice('evt_'.length)}_${endpointId.slice('whe_'.length)}` as WebhookDeliveryId
}

export function readDeliveryId(id: string): { eventId: string; endpointId: string } | null {
  const [, event, endpoint] = shape.exec(id) ?? []
  if (event === undefined || endpoint === undefined) return null
  return { eventId: `evt_${event}`, endpointId: `whe_${endpoint}` }
}

/** The header that receivers deduplicate by: the same for every endpoint and every attempt of an event. */
export function webhookIdOf(eventId: string): string {
  return `wh_${eventId.slice('evt_'.length)}`
}

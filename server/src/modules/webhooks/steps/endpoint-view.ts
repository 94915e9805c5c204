import type { WebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import type { Db } from '#platform/db/db.ts'
import { listSecrets, type EndpointRow, type SecretRow } from '../store/endpoints.ts'
import type { WebhooksTables } from '../store/tables.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

export function endpointView(row: EndpointRow, secrets: readonly SecretRow[]): WebhookEndpoint {
  return {
    id: row.id as WebhookEndpoint['id'],
    object: 'webhook_endpoint',
    name: row.name,
    url: row.url,
    event_types: row.event_types,
    created_at: seconds(row.created_at),
    updated_at: seconds(row.updated_at),
    signing_secret_hint: secrets.find(({ active_until: until }) => until === null)?.hint ?? null,
    status: row.status,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since === null ? null : seconds(row.failing_since),
    secrets: secrets.map((secret) => ({
      id: secret.id as WebhookEndpoint['secrets'][number]['id'],
      hint: secret.hint,
      created_at: seconds(secret.created_at),
      active_until: secret.active_until === null ? null : seconds(secret.active_until),
    })),
  }
}

/** Views of endpoints with the secrets that sign now. */
export async function endpointViews(
  on: Db<WebhooksTables>['kysely'],
  rows: readonly EndpointRow[],
): Promise<WebhookEndpoint[]> {
  const secrets = await listSecrets(
    on,
    rows.map(({ id }) => id),
  )
  return rows.map((row) =>
    endpointView(
      row,
      secrets.filter(({ endpoint_id: id }) => id === row.id),
    ),
  )
}

/** One view, read where the row was: in the caller's transaction or outside. */
export async function endpointViewOf(on: Db<WebhooksTables>['kysely'], row: EndpointRow): Promise<WebhookEndpoint> {
  return endpointView(row, await listSecrets(on, [row.id]))
}

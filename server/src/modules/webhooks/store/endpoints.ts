import type { ProjectId, WebhookEndpointId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { EndpointStatus, WebhooksTables } from './tables.ts'

export interface SecretRow {
  id: string
  sealed: string
  hint: string
  created_at: Date
  active_until: Date | null
}

export interface EndpointRow {
  id: string
  project_id: string
  name: string
  url: string
  event_types: string[]
  status: EndpointStatus
  disabled_reason: string | null
  failing_since: Date | null
  created_at: Date
  updated_at: Date
}

const columns = [
  'id',
  'project_id',
  'name',
  'url',
  'event_types',
  'status',
  'disabled_reason',
  'failing_since',
  'created_at',
  'updated_at',
] as const

const now = sql<Date>`clock_timestamp()`

export interface NewEndpoint {
  id: WebhookEndpointId
  projectId: ProjectId
  name: string
  url: string
  eventTypes: readonly string[]
}

export async function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<EndpointRow> {
  return await own<WebhooksTables>(tx)
    .insertInto('webhooks.endpoint')
    .values({
      id: endpoint.id,
      project_id: endpoint.projectId,
      name: endpoint.name,
      url: endpoint.url,
      event_types: [...new Set(endpoint.eventTypes)],
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function findEndpoint(
  db: Db<WebhooksTables>,
  projectId: ProjectId,
  id: string,
): Promise<EndpointRow | null> {
  const row = await db.kysely
    .selectFrom('webhooks.endpoint')
    .select(columns)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** The row as it is now, held until the transaction ends. */
export async function holdEndpoint(tx: Tx, projectId: ProjectId, id: string): Promise<EndpointRow | null> {
  const row = await own<WebhooksTables>(tx)
    .selectFrom('webhooks.endpoint')
    .select(columns)
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

export interface EndpointChange {
  name?: string | undefined
  url?: string | undefined
  event_types?: string[] | undefined
  status?: EndpointStatus
  disabled_reason?: string | null
  failing_since?: null
}

export async function changeEndpoint(tx: Tx, id: string, change: EndpointChange): Promise<EndpointRow> {
  return await own<WebhooksTables>(tx)
    .updateTable('webhooks.endpoint')
    .set({ ...change, updated_at: now } as never)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Ends an endpoint and its secrets. Returns whether this call was the one. What was still to be sent is discarded by the sweep. */
export async function deleteEndpoint(tx: Tx, projectId: ProjectId, id: string): Promise<boolean> {
  const ended = await own<WebhooksTables>(tx)
    .updateTable('webhooks.endpoint')
    .set({ deleted_at: now })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (ended.numUpdatedRows !== 1n) return false
  await own<WebhooksTables>(tx).deleteFrom('webhooks.secret').where('endpoint_id', '=', id).execute()
  return true
}

export async function listEndpoints(
  db: Db<WebhooksTables>,
  projectId: ProjectId,
  page: { after: string | undefined; limit: number },
): Promise<EndpointRow[]> {
  let query = db.kysely
    .selectFrom('webhooks.endpoint')
    .select(columns)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
  if (page.after !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, id) < (select created_at, id from webhooks.endpoint where id = ${page.after})`,
    )
  }
  return await query.execute()
}

/** Whether a page can start after this id; an endpoint deleted a moment ago still can. */
export async function isEndpointCursor(db: Db<WebhooksTables>, projectId: ProjectId, id: string): Promise<boolean> {
  const row = await db.kysely
    .selectFrom('webhooks.endpoint')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row !== undefined
}

const activeSecret = sql<boolean>`(active_until is null or active_until > clock_timestamp())`

/** Secrets that sign now, the current one first. */
export async function listSecrets(
  on: { selectFrom: Db<WebhooksTables>['kysely']['selectFrom'] },
  endpointIds: readonly string[],
): Promise<(SecretRow & { endpoint_id: string })[]> {
  if (endpointIds.length === 0) return []
  return await on
    .selectFrom('webhooks.secret')
    .select(['id', 'endpoint_id', 'sealed', 'hint', 'created_at', 'active_until'])
    .where('endpoint_id', 'in', endpointIds)
    .where(activeSecret)
    .orderBy(sql`active_until is null`, 'desc')
    .orderBy('created_at', 'desc')
    .execute()
}

export async function insertSecret(
  tx: Tx,
  secret: { id: string; endpointId: string; sealed: string; hint: string },
): Promise<void> {
  await own<WebhooksTables>(tx)
    .insertInto('webhooks.secret')
    .values({
      id: secret.id,
      endpoint_id: secret.endpointId,
      sealed: secret.sealed,
      hint: secret.hint,
      active_until: null,
    })
    .execute()
}

/** The current secret steps back: it signs on for the overlap, or not at all. */
export async function supersedeSecret(tx: Tx, endpointId: string, overlapSeconds: number): Promise<void> {
  await own<WebhooksTables>(tx)
    .updateTable('webhooks.secret')
    .set({ active_until: sql<Date>`clock_timestamp() + ${overlapSeconds} * interval '1 second'` })
    .where('endpoint_id', '=', endpointId)
    .where('active_until', 'is', null)
    .execute()
}

/** Ends the overlap of an old secret. Returns whether this call was the one. */
export async function retireSecret(tx: Tx, endpointId: string, id: string): Promise<boolean> {
  const retired = await own<WebhooksTables>(tx)
    .updateTable('webhooks.secret')
    .set({ active_until: now })
    .where('id', '=', id)
    .where('endpoint_id', '=', endpointId)
    .where('active_until', '>', now)
    .executeTakeFirst()
  return retired.numUpdatedRows === 1n
}

export async function countEndpoints(tx: Tx, projectId: ProjectId): Promise<number> {
  const row = await own<WebhooksTables>(tx)
    .selectFrom('webhooks.endpoint')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return row.count
}

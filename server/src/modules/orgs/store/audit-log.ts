import type { AuditLogId, KeyId, OrgId, ProjectId, UserId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import { newId } from '#platform/std/ids.ts'
import type { Actor } from '../domain/actor.ts'
import type { AuditEvent } from '../domain/audit-event.ts'
import type { OrgsReader, OrgsTables } from './tables.ts'

function actorColumns(actor: Actor): { key: KeyId | null; user: UserId | null; request: string | null } {
  switch (actor.kind) {
    case 'api_key':
      return { key: actor.keyId, user: null, request: actor.requestId }
    case 'session':
      return { key: null, user: actor.userId, request: actor.requestId }
    case 'operator':
      return { key: null, user: null, request: null }
  }
}

/** Written in the transaction of the change it tells of. */
export async function recordAudit(tx: Tx, orgId: OrgId, actor: Actor, event: AuditEvent): Promise<void> {
  const { key, user, request } = actorColumns(actor)
  await own<OrgsTables>(tx)
    .insertInto('orgs.audit_log')
    .values({
      id: newId<AuditLogId>('audit_log-'),
      org_id: orgId,
      project_id: event.projectId ?? null,
      type: event.type,
      actor_kind: actor.kind,
      actor_key_id: key,
      // The person behind a key is kept as they were then.
      actor_user_id: user ?? sql<UserId | null>`(select user_id from orgs.api_key where id = ${key})`,
      resource_id: event.resourceId,
      request_id: request,
      details: JSON.stringify(event.details),
    })
    .execute()
}

export interface AuditRow {
  id: AuditLogId
  type: string
  effective_at: Date
  actor_kind: Actor['kind']
  actor_key_id: KeyId | null
  actor_user_id: UserId | null
  actor_email: string | null
  project_id: ProjectId | null
  project_name: string | null
  request_id: string | null
  details: Record<string, unknown>
}

export interface AuditPage {
  readonly limit: number
  readonly after?: string | undefined
  readonly before?: string | undefined
  readonly effectiveAt: {
    readonly gt?: number | undefined
    readonly gte?: number | undefined
    readonly lt?: number | undefined
    readonly lte?: number | undefined
  }
  readonly types?: readonly string[] | undefined
  readonly actorIds?: readonly string[] | undefined
  readonly actorEmails?: readonly string[] | undefined
  readonly projectIds?: readonly string[] | undefined
  readonly resourceIds?: readonly string[] | undefined
}

const second = (at: number) => sql<Date>`to_timestamp(${at}::float8)`

/** Where a page starts. Entries are never removed, so an unknown cursor never was one. */
export async function isAuditCursor(orgs: OrgsReader, orgId: OrgId, id: string): Promise<boolean> {
  const row = await orgs
    .selectFrom('orgs.audit_log')
    .select('id')
    .where('id', '=', id as AuditLogId)
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}

/** Newest first. With `before`, the page that ends just before that entry. */
export async function listAudit(orgs: OrgsReader, orgId: OrgId, page: AuditPage): Promise<AuditRow[]> {
  const backwards = page.before !== undefined
  const cursor = page.before ?? page.after
  const { gt, gte, lt, lte } = page.effectiveAt
  let query = orgs
    .selectFrom('orgs.audit_log as a')
    .leftJoin('orgs.user as u', 'u.id', 'a.actor_user_id')
    .leftJoin('orgs.project as p', 'p.id', 'a.project_id')
    .select(['a.id', 'a.type', 'a.effective_at', 'a.actor_kind', 'a.actor_key_id', 'a.actor_user_id'])
    .select(['u.email as actor_email', 'a.project_id', 'p.name as project_name', 'a.request_id', 'a.details'])
    .where('a.org_id', '=', orgId)
  if (cursor !== undefined) {
    const past = sql.raw(backwards ? '>' : '<')
    query = query.where(
      sql<boolean>`(a.effective_at, a.id) ${past} (select effective_at, id from orgs.audit_log where id = ${cursor})`,
    )
  }
  // The wire counts whole seconds, so `gt` and `lte` mean the whole second they name.
  if (gt !== undefined) query = query.where('a.effective_at', '>=', second(gt + 1))
  if (gte !== undefined) query = query.where('a.effective_at', '>=', second(gte))
  if (lt !== undefined) query = query.where('a.effective_at', '<', second(lt))
  if (lte !== undefined) query = query.where('a.effective_at', '<', second(lte + 1))
  if (page.types !== undefined) query = query.where('a.type', 'in', page.types)
  if (page.projectIds !== undefined) query = query.where('a.project_id', 'in', page.projectIds as ProjectId[])
  if (page.resourceIds !== undefined) query = query.where('a.resource_id', 'in', page.resourceIds)
  if (page.actorEmails !== undefined) query = query.where('u.email', 'in', page.actorEmails)
  const { actorIds } = page
  if (actorIds !== undefined) {
    query = query.where((where) =>
      where.or([
        where('a.actor_key_id', 'in', actorIds as KeyId[]),
        where('a.actor_user_id', 'in', actorIds as UserId[]),
      ]),
    )
  }
  const order = backwards ? 'asc' : 'desc'
  const rows = await query
    .orderBy('a.effective_at', order)
    .orderBy('a.id', order)
    .limit(page.limit + 1)
    .execute()
  return rows
}

import type { AdAccountId, KeyId, OrgId, ProjectId, ServiceAccountId, UserId } from '@switchyard/contracts/ids.ts'
import { sql, type SelectQueryBuilder } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { KeyKind } from '../domain/key-text.ts'
import type { OrgsReader, OrgsTables, PageOf } from './tables.ts'

/** Where a key is looked for. A key outside the place does not exist for the caller. */
export interface KeyPlace {
  readonly orgId: OrgId
  readonly kinds: readonly KeyKind[]
  readonly projectId: ProjectId | null
}

export const keysOfProject = (orgId: OrgId, projectId: ProjectId): KeyPlace => ({
  orgId,
  kinds: ['project', 'service_account'],
  projectId,
})
export const adminKeys = (orgId: OrgId): KeyPlace => ({ orgId, kinds: ['admin'], projectId: null })
export const adsKeys = (orgId: OrgId): KeyPlace => ({ orgId, kinds: ['ads'], projectId: null })

export interface NewKey {
  id: KeyId
  org_id: OrgId
  project_id: ProjectId | null
  ad_account_id: AdAccountId | null
  kind: KeyKind
  hash: Buffer
  name: string
  redacted: string
  scopes: string[] | null
  user_id: UserId | null
  service_account_id: ServiceAccountId | null
  /** From now on by PostgreSQL's clock; null never expires. */
  lifetimeSeconds: number | null
}

const inSeconds = (count: number) => sql<Date>`clock_timestamp() + ${count} * interval '1 second'`
const unexpired = sql<boolean>`(expires_at is null or expires_at > clock_timestamp())`

export async function insertKey(tx: Tx, { lifetimeSeconds, ...key }: NewKey): Promise<void> {
  await own<OrgsTables>(tx)
    .insertInto('orgs.api_key')
    .values({ ...key, expires_at: lifetimeSeconds === null ? null : inSeconds(lifetimeSeconds) })
    .execute()
}

const columns = [
  'k.id',
  'k.org_id',
  'k.project_id',
  'k.ad_account_id',
  'k.kind',
  'k.name',
  'k.redacted',
  'k.scopes',
  'k.user_id',
  'k.service_account_id',
  'k.created_at',
  'k.expires_at',
  'k.last_used_at',
  'standing.owner_access',
  'o.name as org_name',
  'o.created_at as org_created_at',
  'u.name as user_name',
  'u.email as user_email',
  'u.created_at as user_created_at',
  'm.role as org_role',
  'pm.role as project_role',
  's.name as account_name',
  's.role as account_role',
  's.created_at as account_created_at',
] as const

/** Keys of the place that were not revoked, with what is said about their owner. */
const selectKeys = (orgs: OrgsReader, place: KeyPlace) =>
  orgs
    .selectFrom('orgs.api_key as k')
    .innerJoin('orgs.key_standing as standing', 'standing.id', 'k.id')
    .innerJoin('orgs.organization as o', 'o.id', 'k.org_id')
    .leftJoin('orgs.user as u', 'u.id', 'k.user_id')
    .leftJoin('orgs.service_account as s', 's.id', 'k.service_account_id')
    .leftJoin('orgs.member as m', (join) =>
      join.onRef('m.org_id', '=', 'k.org_id').onRef('m.user_id', '=', 'k.user_id'),
    )
    .leftJoin('orgs.project_member as pm', (join) =>
      join.onRef('pm.project_id', '=', 'k.project_id').onRef('pm.user_id', '=', 'k.user_id'),
    )
    .select(columns)
    .where('k.org_id', '=', place.orgId)
    .where('k.kind', 'in', place.kinds)
    .where('k.project_id', place.projectId === null ? 'is' : '=', place.projectId)
    .where('k.revoked_at', 'is', null)

type RowOf<Query> = Query extends SelectQueryBuilder<infer _Db, infer _Tables, infer Row> ? Row : never
export type KeyRow = RowOf<ReturnType<typeof selectKeys>>

export async function findKey(orgs: OrgsReader, place: KeyPlace, id: KeyId): Promise<KeyRow | null> {
  return (await selectKeys(orgs, place).where('k.id', '=', id).executeTakeFirst()) ?? null
}

export interface KeyPage extends PageOf {
  readonly order?: 'asc' | 'desc'
  readonly ownerAccess?: boolean | undefined
}

export async function listKeys(orgs: OrgsReader, place: KeyPlace, page: KeyPage): Promise<KeyRow[]> {
  const { order = 'desc', after, ownerAccess } = page
  return await selectKeys(orgs, place)
    .$if(after !== undefined, (query) => query.where('k.id', order === 'desc' ? '<' : '>', after as KeyId))
    .$if(ownerAccess !== undefined, (query) => query.where('standing.owner_access', '=', ownerAccess ?? true))
    .orderBy('k.id', order)
    .limit(page.limit + 1)
    .execute()
}

/** Keeps the key as it is until the transaction ends. False when it is not there. */
export async function holdKey(tx: Tx, place: KeyPlace, id: KeyId): Promise<boolean> {
  const row = await own<OrgsTables>(tx)
    .selectFrom('orgs.api_key')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', place.orgId)
    .where('kind', 'in', place.kinds)
    .where('project_id', place.projectId === null ? 'is' : '=', place.projectId)
    .where('revoked_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

const updateKey = (tx: Tx, place: KeyPlace, id: KeyId) =>
  own<OrgsTables>(tx)
    .updateTable('orgs.api_key')
    .where('id', '=', id)
    .where('org_id', '=', place.orgId)
    .where('kind', 'in', place.kinds)
    .where('project_id', place.projectId === null ? 'is' : '=', place.projectId)
    .where('revoked_at', 'is', null)

/** Returns whether this call was the one. */
export async function revokeKey(tx: Tx, place: KeyPlace, id: KeyId): Promise<boolean> {
  const revoked = await updateKey(tx, place, id)
    .set({ revoked_at: sql<Date>`clock_timestamp()` })
    .executeTakeFirst()
  return revoked.numUpdatedRows === 1n
}

export interface KeyChange {
  readonly scopes?: string[] | null | undefined
  readonly lifetimeSeconds?: number | undefined
}

/** Changes a key that has not expired. Returns whether it did. */
export async function changeKey(tx: Tx, place: KeyPlace, id: KeyId, change: KeyChange): Promise<boolean> {
  const changed = await updateKey(tx, place, id)
    .set({
      ...(change.scopes === undefined ? {} : { scopes: change.scopes }),
      ...(change.lifetimeSeconds === undefined ? {} : { expires_at: inSeconds(change.lifetimeSeconds) }),
    })
    .where(unexpired)
    .executeTakeFirst()
  return changed.numUpdatedRows === 1n
}

/** Gives a key a successor and an end, once. Returns the end, or null when the key has expired or has a successor. */
export async function replaceKey(
  tx: Tx,
  place: KeyPlace,
  id: KeyId,
  successor: { id: KeyId; overlapSeconds: number },
): Promise<Date | null> {
  const replaced = await updateKey(tx, place, id)
    .set({
      replaced_by: successor.id,
      // An earlier end that was already set stands.
      expires_at: sql<Date>`least(expires_at, ${inSeconds(successor.overlapSeconds)})`,
    })
    .where('replaced_by', 'is', null)
    .where(unexpired)
    .returning('expires_at')
    .executeTakeFirst()
  return replaced?.expires_at ?? null
}

/** About the calling key itself: whose it is, and what it is restricted to. */
export async function getKeyOwner(
  orgs: OrgsReader,
  id: KeyId,
): Promise<{ user_id: UserId | null; scopes: string[] | null }> {
  return await orgs
    .selectFrom('orgs.api_key')
    .select(['user_id', 'scopes'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/** Revokes what belonged to an owner who is gone. Returns how many. */
export async function revokeKeysOf(
  tx: Tx,
  orgId: OrgId,
  owner: { userId: UserId } | { serviceAccountId: ServiceAccountId },
): Promise<number> {
  const revoked = await own<OrgsTables>(tx)
    .updateTable('orgs.api_key')
    .set({ revoked_at: sql<Date>`clock_timestamp()` })
    .where('org_id', '=', orgId)
    .where('revoked_at', 'is', null)
    .$if('userId' in owner, (query) => query.where('user_id', '=', 'userId' in owner ? owner.userId : null))
    .$if('serviceAccountId' in owner, (query) =>
      query.where('service_account_id', '=', 'serviceAccountId' in owner ? owner.serviceAccountId : null),
    )
    .executeTakeFirst()
  return Number(revoked.numUpdatedRows)
}

export async function hasAdminKeyInForce(orgs: OrgsReader, orgId: OrgId): Promise<boolean> {
  const row = await orgs
    .selectFrom('orgs.key_standing')
    .select('id')
    .where('org_id', '=', orgId)
    .where('kind', '=', 'admin')
    .where('in_force', '=', true)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

import type { InviteId, OrgId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { GrantedProject, OrganizationRole, OrgsReader, OrgsTables, PageOf } from './tables.ts'

export interface InviteRow {
  id: InviteId
  email: string
  role: OrganizationRole
  projects: GrantedProject[]
  created_at: Date
  expires_at: Date
  accepted_at: Date | null
  /** Whether its time had passed when it was read, by PostgreSQL's clock. */
  expired: boolean
}

const passed = sql<boolean>`expires_at <= clock_timestamp()`
const columns = ['id', 'email', 'role', 'projects', 'created_at', 'expires_at', 'accepted_at'] as const

const select = (orgs: OrgsReader, orgId: OrgId) =>
  orgs
    .selectFrom('orgs.invite')
    .select(columns)
    .select(passed.as('expired'))
    .where('org_id', '=', orgId)
    .where('deleted_at', 'is', null)

export async function findInvite(orgs: OrgsReader, orgId: OrgId, id: InviteId): Promise<InviteRow | null> {
  return (await select(orgs, orgId).where('id', '=', id).executeTakeFirst()) ?? null
}

export async function hasPendingInvite(orgs: OrgsReader, orgId: OrgId, email: string): Promise<boolean> {
  const row = await select(orgs, orgId)
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where(sql<boolean>`not ${passed}`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function listInvites(orgs: OrgsReader, orgId: OrgId, page: PageOf): Promise<InviteRow[]> {
  return await select(orgs, orgId)
    .$if(page.after !== undefined, (query) => query.where('id', '<', page.after as InviteId))
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
}

export interface NewInvite {
  id: InviteId
  org_id: OrgId
  email: string
  role: OrganizationRole
  projects: readonly GrantedProject[]
  lifetimeSeconds: number
}

export async function insertInvite(tx: Tx, { lifetimeSeconds, projects, ...invite }: NewInvite): Promise<InviteRow> {
  return await own<OrgsTables>(tx)
    .insertInto('orgs.invite')
    .values({
      ...invite,
      projects: JSON.stringify(projects),
      expires_at: sql<Date>`clock_timestamp() + ${lifetimeSeconds} * interval '1 second'`,
    })
    .returning(columns)
    .returning(passed.as('expired'))
    .executeTakeFirstOrThrow()
}

/** Takes back an invite that nobody accepted. Returns whether this call was the one. */
export async function endInvite(tx: Tx, orgId: OrgId, id: InviteId): Promise<boolean> {
  const ended = await own<OrgsTables>(tx)
    .updateTable('orgs.invite')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('accepted_at', 'is', null)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}

/** Marks a pending invite to this address as accepted. Null when it is not pending or not theirs. */
export async function takeInvite(
  tx: Tx,
  id: InviteId,
  email: string,
): Promise<{ org_id: OrgId; role: OrganizationRole; projects: GrantedProject[] } | null> {
  const taken = await own<OrgsTables>(tx)
    .updateTable('orgs.invite')
    .set({ accepted_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('email', '=', email)
    .where('accepted_at', 'is', null)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`not ${passed}`)
    .returning(['org_id', 'role', 'projects'])
    .executeTakeFirst()
  return taken ?? null
}

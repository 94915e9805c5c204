import type { OrgId, UserId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { OrganizationRole, OrgsReader, OrgsTables, PageOf } from './tables.ts'

export interface MemberRow {
  id: UserId
  email: string
  name: string
  created_at: Date
  role: OrganizationRole
  added_at: Date
}

const select = (orgs: OrgsReader, orgId: OrgId) =>
  orgs
    .selectFrom('orgs.member as m')
    .innerJoin('orgs.user as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.email', 'u.name', 'u.created_at', 'm.role', 'm.added_at'])
    .where('m.org_id', '=', orgId)

export async function findMember(orgs: OrgsReader, orgId: OrgId, id: UserId): Promise<MemberRow | null> {
  return (await select(orgs, orgId).where('m.user_id', '=', id).executeTakeFirst()) ?? null
}

export async function findMemberByEmail(orgs: OrgsReader, orgId: OrgId, email: string): Promise<MemberRow | null> {
  return (await select(orgs, orgId).where('u.email', '=', email).executeTakeFirst()) ?? null
}

export async function listMembers(
  orgs: OrgsReader,
  orgId: OrgId,
  page: PageOf & { emails?: readonly string[] | undefined },
): Promise<MemberRow[]> {
  return await select(orgs, orgId)
    .$if(page.after !== undefined, (query) => query.where('m.user_id', '<', page.after as UserId))
    .$if(page.emails !== undefined, (query) => query.where('u.email', 'in', page.emails ?? []))
    .orderBy('m.user_id', 'desc')
    .limit(page.limit + 1)
    .execute()
}

/** The person behind an e-mail address, made when new. A name they already have stands. */
export async function ensureUser(tx: Tx, user: { id: UserId; email: string; name: string }): Promise<UserId> {
  const row = await own<OrgsTables>(tx)
    .insertInto('orgs.user')
    .values(user)
    // Changes nothing, but gives back the row that is there.
    .onConflict((conflict) => conflict.column('email').doUpdateSet({ email: user.email }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Returns whether the person was not a member before. */
export async function insertMember(
  tx: Tx,
  member: { org_id: OrgId; user_id: UserId; role: OrganizationRole },
): Promise<boolean> {
  const added = await own<OrgsTables>(tx)
    .insertInto('orgs.member')
    .values(member)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return added.numInsertedOrUpdatedRows === 1n
}

/** Keeps the membership until the transaction ends. False when there is none. */
export async function holdMember(tx: Tx, orgId: OrgId, id: UserId): Promise<boolean> {
  const row = await own<OrgsTables>(tx)
    .selectFrom('orgs.member')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('user_id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
  return row !== undefined
}

export async function setMemberRole(tx: Tx, orgId: OrgId, id: UserId, role: OrganizationRole): Promise<boolean> {
  const changed = await own<OrgsTables>(tx)
    .updateTable('orgs.member')
    .set({ role })
    .where('org_id', '=', orgId)
    .where('user_id', '=', id)
    .executeTakeFirst()
  return changed.numUpdatedRows === 1n
}

/** Takes the person out of the organisation and, by the foreign key, out of its projects. */
export async function deleteMember(tx: Tx, orgId: OrgId, id: UserId): Promise<boolean> {
  const gone = await own<OrgsTables>(tx)
    .deleteFrom('orgs.member')
    .where('org_id', '=', orgId)
    .where('user_id', '=', id)
    .executeTakeFirst()
  return gone.numDeletedRows === 1n
}

export async function hasOwner(orgs: OrgsReader, orgId: OrgId): Promise<boolean> {
  const row = await orgs
    .selectFrom('orgs.member')
    .select(sql<number>`1`.as('one'))
    .where('org_id', '=', orgId)
    .where('role', '=', 'owner')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

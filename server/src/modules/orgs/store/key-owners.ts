import type { KeyId, OrgId, UserId } from '@switchyard/contracts/ids.ts'
import type { OrgsReader } from './tables.ts'

export async function findKeyUsers(
  orgs: OrgsReader,
  orgId: OrgId,
  keyIds: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, UserId>> {
  if (keyIds.length === 0) return new Map()
  const rows = await orgs
    .selectFrom('orgs.api_key')
    .select(['id', 'user_id'])
    .where('org_id', '=', orgId)
    .where((where) => where('id', '=', where.fn.any(where.val(keyIds as KeyId[]))))
    .execute()
  return new Map(rows.flatMap(({ id, user_id: user }) => (user === null ? [] : [[id, user] as const])))
}

/** Every key they ever had: what was used stays theirs after a key has ended. */
export async function listKeysOfUsers(orgs: OrgsReader, orgId: OrgId, userIds: readonly UserId[]): Promise<KeyId[]> {
  if (userIds.length === 0) return []
  const rows = await orgs
    .selectFrom('orgs.api_key')
    .select('id')
    .where('org_id', '=', orgId)
    .where('user_id', 'in', userIds)
    .execute()
  return rows.map(({ id }) => id)
}

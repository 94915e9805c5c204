import type { OrgId } from '@switchyard/contracts/ids.ts'
import { CompiledQuery, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import type { NetworkPolicy } from '../domain/network-policy.ts'
import type { OrgsReader, OrgsTables } from './tables.ts'

const byOrg = statement<[OrgId], NetworkPolicy>(
  'orgs.network-policy',
  `select coalesce(policy.type, 'disabled') as type, coalesce(policy.allowed_domains, '{}') as allowed_domains,
     coalesce(policy.updated_at, o.created_at) as updated_at
   from orgs.organization o left join orgs.container_network_policy policy on policy.org_id = o.id
   where o.id = $1`,
)

/** As it is now: the egress proxy asks again and again. Null when there is no such organisation. */
export async function findNetworkPolicy(db: Db<OrgsTables>, orgId: OrgId): Promise<NetworkPolicy | null> {
  const [row] = await db.run(byOrg, [orgId])
  return row ?? null
}

/** The same inside a transaction. */
export async function getNetworkPolicy(orgs: OrgsReader, orgId: OrgId): Promise<NetworkPolicy> {
  const { rows } = await orgs.executeQuery<NetworkPolicy>(CompiledQuery.raw(byOrg.text, [orgId]))
  const [row] = rows
  assert(row !== undefined, 'the organisation of a key exists')
  return row
}

export async function saveNetworkPolicy(
  tx: Tx,
  orgId: OrgId,
  policy: Pick<NetworkPolicy, 'type' | 'allowed_domains'>,
): Promise<NetworkPolicy> {
  const values = {
    type: policy.type,
    allowed_domains: [...policy.allowed_domains],
    updated_at: sql<Date>`clock_timestamp()`,
  }
  return await own<OrgsTables>(tx)
    .insertInto('orgs.container_network_policy')
    .values({ org_id: orgId, ...values })
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(values))
    .returning(['type', 'allowed_domains', 'updated_at'])
    .executeTakeFirstOrThrow()
}

import type { AdAccountId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { KeyKind } from '../domain/key-text.ts'
import type { OrgsTables } from './tables.ts'

export interface KeyInForce {
  id: KeyId
  org_id: OrgId
  project_id: ProjectId | null
  ad_account_id: AdAccountId | null
  kind: KeyKind
  scopes: string[] | null
}

const columns = 'id, org_id, project_id, ad_account_id, kind, scopes'

const inForce = statement<[Buffer], KeyInForce>(
  'orgs.key-in-force',
  `select ${columns} from orgs.key_standing where hash = $1 and in_force`,
)

/** Every request asks this once. A key that is unknown and one that is out of force give the same nothing. */
export async function findKeyInForce(db: Db<OrgsTables>, hash: Buffer): Promise<KeyInForce | null> {
  const [row] = await db.run(inForce, [hash])
  return row ?? null
}

const inForceById = statement<[KeyId], KeyInForce>(
  'orgs.key-in-force-by-id',
  `select ${columns} from orgs.key_standing where id = $1 and in_force`,
)

/** The same for someone who proved before that they hold the key. */
export async function findKeyInForceById(db: Db<OrgsTables>, id: KeyId): Promise<KeyInForce | null> {
  const [row] = await db.run(inForceById, [id])
  return row ?? null
}

// Through a query of its own the array tells the planner nothing, so that one plan serves all; with the array itself
// PostgreSQL plans anew for every length, which measured four times what the lookup costs.
const allInForce = statement<[Buffer[]], KeyInForce & { hash: Buffer }>(
  'orgs.keys-in-force',
  `select hash, ${columns} from orgs.key_standing where hash = any(array(select unnest($1::bytea[]))) and in_force`,
)

/** One for each hash, in their order; null for a key that is not in force. */
export async function findKeysInForce(
  db: Db<OrgsTables>,
  hashes: readonly Buffer[],
): Promise<readonly (KeyInForce | null)[]> {
  const [only] = hashes
  if (hashes.length === 1 && only !== undefined) return [await findKeyInForce(db, only)]
  const rows = await db.run(allInForce, [[...hashes]])
  return hashes.map((hash) => rows.find((row) => row.hash.equals(hash)) ?? null)
}

/**
 * Rows locked by someone else are left for the next round: a lost note costs seconds of accuracy, and two nodes that
 * write overlapping batches cannot wait for each other.
 */
const used = statement<[KeyId[], number[]], never>(
  'orgs.keys-used',
  `with noted as (select * from unnest($1::text[], $2::float8[]) as noted (id, ago_ms)),
     free as (
       select k.id from orgs.api_key k join noted on noted.id = k.id order by k.id for no key update of k skip locked
     )
   update orgs.api_key k
     set last_used_at = greatest(k.last_used_at, clock_timestamp() - noted.ago_ms * interval '1 millisecond')
     from noted join free on free.id = noted.id
     where k.id = noted.id`,
)

export async function writeLastUsed(db: Db<OrgsTables>, ids: KeyId[], agoMs: number[]): Promise<void> {
  await db.run(used, [ids, agoMs])
}

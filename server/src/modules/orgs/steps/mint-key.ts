import type { AdAccountId, KeyId, OrgId, ProjectId, ServiceAccountId, UserId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import { newId } from '#platform/std/ids.ts'
import type { Actor } from '../domain/actor.ts'
import { keyCreated } from '../domain/audit-event.ts'
import { mintKeyText, type KeyKind } from '../domain/key-text.ts'
import { recordAudit } from '../store/audit-log.ts'
import { findKey, insertKey, type KeyRow } from '../store/keys.ts'
import type { OrgsTables } from '../store/tables.ts'

export interface WantedKey {
  readonly kind: KeyKind
  readonly orgId: OrgId
  readonly projectId?: ProjectId | null
  readonly adAccountId?: AdAccountId | null
  readonly userId?: UserId | null
  readonly serviceAccountId?: ServiceAccountId | null
  readonly name: string
  readonly scopes: string[] | null
  readonly lifetimeSeconds: number | null
}

export interface FreshKey {
  readonly row: KeyRow
  /** The only moment at which anybody has it. */
  readonly value: string
}

/** Makes a key without telling the audit log, for those who have more to tell. */
export async function makeKey(tx: Tx, cellTag: string, wanted: WantedKey): Promise<FreshKey> {
  const id = newId<KeyId>('key_')
  const { value, hash, redacted } = mintKeyText(wanted.kind, cellTag)
  const projectId = wanted.projectId ?? null
  await insertKey(tx, {
    id,
    org_id: wanted.orgId,
    project_id: projectId,
    ad_account_id: wanted.adAccountId ?? null,
    kind: wanted.kind,
    hash,
    name: wanted.name,
    redacted,
    scopes: wanted.scopes,
    user_id: wanted.userId ?? null,
    service_account_id: wanted.serviceAccountId ?? null,
    lifetimeSeconds: wanted.lifetimeSeconds,
  })
  const row = await findKey(own<OrgsTables>(tx), { orgId: wanted.orgId, kinds: [wanted.kind], projectId }, id)
  assert(row !== null, 'a key just made is there')
  return { row, value }
}

export async function mintKey(tx: Tx, cellTag: string, actor: Actor, wanted: WantedKey): Promise<FreshKey> {
  const fresh = await makeKey(tx, cellTag, wanted)
  await recordAudit(tx, wanted.orgId, actor, keyCreated(fresh.row))
  return fresh
}

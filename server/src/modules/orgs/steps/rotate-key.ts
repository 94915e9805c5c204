import type { KeyId } from '@switchyard/contracts/ids.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Actor } from '../domain/actor.ts'
import { keyRotated } from '../domain/audit-event.ts'
import { noSuch } from '../domain/no-such.ts'
import { recordAudit } from '../store/audit-log.ts'
import { findKey, holdKey, replaceKey, type KeyPlace, type KeyRow } from '../store/keys.ts'
import type { OrgsTables } from '../store/tables.ts'
import { makeKey, type FreshKey } from './mint-key.ts'

export interface RotatedKey extends FreshKey {
  readonly replaces: { readonly id: KeyId; readonly expiresAt: Date }
}

/** As long as the old one had been given, counted anew. */
function lifetimeSecondsOf({ created_at, expires_at }: KeyRow): number | null {
  return expires_at === null ? null : Math.max(1, Math.round((expires_at.getTime() - created_at.getTime()) / 1_000))
}

/** Looks at the key to be replaced before anything is done, and may refuse by throwing. */
export type RotationCheck = (old: KeyRow) => void | Promise<void>

export async function rotateKey(
  tx: Tx,
  cellTag: string,
  actor: Actor,
  old: { place: KeyPlace; id: KeyId; overlapSeconds: number; check?: RotationCheck },
): Promise<RotatedKey> {
  const { place, id, overlapSeconds } = old
  const row = (await holdKey(tx, place, id)) ? await findKey(own<OrgsTables>(tx), place, id) : null
  if (row === null) throw noSuch('API key')
  await old.check?.(row)
  const fresh = await makeKey(tx, cellTag, {
    kind: row.kind,
    orgId: row.org_id,
    projectId: row.project_id,
    adAccountId: row.ad_account_id,
    userId: row.user_id,
    serviceAccountId: row.service_account_id,
    name: row.name,
    scopes: row.scopes,
    lifetimeSeconds: lifetimeSecondsOf(row),
  })
  const expiresAt = await replaceKey(tx, place, id, { id: fresh.row.id, overlapSeconds })
  if (expiresAt === null) {
    throw new Fault('invalid_state_transition', 'The key has expired or was rotated before.')
  }
  await recordAudit(tx, place.orgId, actor, keyRotated(row, fresh.row.id, overlapSeconds))
  return { ...fresh, replaces: { id, expiresAt } }
}

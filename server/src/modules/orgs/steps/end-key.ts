import type { KeyId } from '@switchyard/contracts/ids.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Actor } from '../domain/actor.ts'
import { keyDeleted } from '../domain/audit-event.ts'
import { noSuch } from '../domain/no-such.ts'
import { recordAudit } from '../store/audit-log.ts'
import { revokeKey, type KeyPlace } from '../store/keys.ts'

export async function endKey(tx: Tx, actor: Actor, place: KeyPlace, id: KeyId): Promise<void> {
  if (!(await revokeKey(tx, place, id))) throw noSuch('API key')
  await recordAudit(tx, place.orgId, actor, keyDeleted({ id, project_id: place.projectId }))
}

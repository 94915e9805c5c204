import type { Db } from '#platform/db/db.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import { sealContext } from '../dispatch/target.ts'
import { listSecretsAfter, replaceSealed } from '../store/secrets.ts'
import type { WebhooksTables } from '../store/tables.ts'

const pageRows = 500

/** Seals every signing secret with the key that seals now. Running it twice, or beside live traffic, does no harm. */
export async function resealSecrets(db: Db<WebhooksTables>, sealer: Sealer): Promise<number> {
  let moved = 0
  let after = ''
  for (;;) {
    const page = await listSecretsAfter(db, after, pageRows)
    for (const { id, sealed } of page) {
      if (!sealer.needsReseal(sealed)) continue
      const context = sealContext(id)
      if (await replaceSealed(db, id, sealed, sealer.seal(sealer.open(sealed, context), context))) moved += 1
    }
    const last = page.at(-1)
    if (last === undefined) return moved
    after = last.id
  }
}

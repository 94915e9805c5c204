import type { Db } from '#platform/db/db.ts'
import type { WebhooksTables } from './tables.ts'

/** Secrets by id, a page at a time. */
export async function listSecretsAfter(
  db: Db<WebhooksTables>,
  after: string,
  limit: number,
): Promise<{ id: string; sealed: string }[]> {
  return await db.kysely
    .selectFrom('webhooks.secret')
    .select(['id', 'sealed'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Puts one sealed form in place of another, unless somebody has changed it since. */
export async function replaceSealed(db: Db<WebhooksTables>, id: string, from: string, to: string): Promise<boolean> {
  const result = await db.kysely
    .updateTable('webhooks.secret')
    .set({ sealed: to })
    .where('id', '=', id)
    .where('sealed', '=', from)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

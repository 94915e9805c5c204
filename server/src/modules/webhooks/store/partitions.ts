import { sql } from 'kysely'
import type { DayTables } from '#platform/db/day-partitions.ts'
import type { Db } from '#platform/db/db.ts'
import type { WebhooksTables } from './tables.ts'

export const dayTables: DayTables = {
  schema: 'webhooks',
  idPrefix: 'evt_',
  tables: [
    { name: 'event', column: 'id' },
    { name: 'attempt', column: 'event_id' },
  ],
}

/** Deliveries that were made due again, whose event is gone. */
export async function deleteDueBefore(db: Db<WebhooksTables>, firstId: string): Promise<void> {
  await sql`delete from webhooks.due where event_id < ${firstId}`.execute(db.kysely)
}

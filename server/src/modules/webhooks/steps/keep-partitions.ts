import { keepDays, oldestKeptId } from '#platform/db/day-partitions.ts'
import type { Db } from '#platform/db/db.ts'
import { dayTables, deleteDueBefore } from '../store/partitions.ts'
import type { WebhooksTables } from '../store/tables.ts'

/** Makes the partitions of the days ahead, drops those past retention. Returns how many were dropped. */
export async function keepPartitions(db: Db<WebhooksTables>, now: Date, retentionDays: number): Promise<number> {
  const dropped = await keepDays(db as unknown as Db<unknown>, dayTables, now, retentionDays)
  await deleteDueBefore(db, oldestKeptId(dayTables, now, retentionDays))
  return dropped
}

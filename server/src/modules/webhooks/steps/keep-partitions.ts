import type { Db } from '#platform/db/db.ts'
import { firstIdAt } from '#platform/std/ids.ts'
import { deleteOlder, dropDay, ensureDay, listDays, type Day } from '../store/partitions.ts'
import type { WebhooksTables } from '../store/tables.ts'

const dayMs = 86_400_000
const daysAhead = 7

export function dayOf(at: Date): Day {
  const from = Math.floor(at.getTime() / dayMs) * dayMs
  return {
    name: new Date(from).toISOString().slice(0, 10).replaceAll('-', ''),
    fromId: firstIdAt('evt_', from),
    toId: firstIdAt('evt_', from + dayMs),
  }
}

/** Makes the partitions of the days ahead, drops those past retention. Returns how many were dropped. */
export async function keepPartitions(db: Db<WebhooksTables>, now: Date, retentionDays: number): Promise<number> {
  for (let ahead = 1; ahead <= daysAhead; ahead += 1)
    await ensureDay(db, dayOf(new Date(now.getTime() + ahead * dayMs)))
  const oldest = dayOf(new Date(now.getTime() - retentionDays * dayMs))
  const past = (await listDays(db)).filter((name) => name < oldest.name)
  for (const name of past) await dropDay(db, name)
  await deleteOlder(db, oldest.fromId)
  return past.length
}

import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { lockBatch } from '../store/batches.ts'
import { listOpenOf, listOpenProjects } from '../store/lifecycle.ts'
import type { BatchesTables } from '../store/tables.ts'
import { endEarly, type NextUses } from './start-next.ts'

const batchesMax = 100
const projectsMax = 10_000

/** Cancels the batches of archived projects: nobody has a key to do it with. Returns how many. */
export async function sweepArchived(
  use: NextUses & {
    readonly db: Db<BatchesTables>
    readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]>
  },
): Promise<number> {
  const archived = await use.archivedOf(await listOpenProjects(use.db, projectsMax))
  const ids = await listOpenOf(use.db, archived, batchesMax)
  for (const id of ids) {
    await use.db.tx(async (tx) => {
      const batch = await lockBatch(tx, id)
      if (batch?.status === 'validating' || batch?.status === 'in_progress') await endEarly(use, tx, batch, 'cancelled')
    })
  }
  return ids.length
}

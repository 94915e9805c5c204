import { abandoned } from '../domain/live-response.ts'
import { buryNodes, listOrphans } from '../store/nodes.ts'
import { nodeAliveMs } from './node-lease.ts'
import { stopResponse, type StopUses } from './stop-response.ts'

const batch = 100
const goneMs = 3_600_000

/** Ends foreground responses whose process is gone, so that nothing stays open and no conversation locked. */
export async function sweepOrphans(use: StopUses): Promise<number> {
  const orphans = await listOrphans(use.db, batch, nodeAliveMs)
  const failures: unknown[] = []
  for (const { id, project_id } of orphans) {
    // One that cannot be ended must not keep the others open.
    await stopResponse(use, project_id, id, abandoned).catch((err: unknown) => failures.push(err))
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some responses could not be ended')
  if (orphans.length === 0) await buryNodes(use.db, goneMs)
  return orphans.length
}

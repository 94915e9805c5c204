import type { Ending } from '../domain/live-response.ts'
import { buryNodes, listOrphans } from '../store/nodes.ts'
import { stopResponse, type StopUses } from './stop-response.ts'

const batch = 100
const goneMs = 3_600_000

export const abandoned: Ending = {
  status: 'failed',
  error: { code: 'server_error', message: 'The server that worked on this response went away.' },
}

/** Ends foreground responses whose process is gone, so that nothing stays open and no conversation locked. */
export async function sweepOrphans(use: StopUses): Promise<number> {
  const orphans = await listOrphans(use.db, batch)
  for (const { id, project_id } of orphans) await stopResponse(use, project_id, id, abandoned)
  if (orphans.length === 0) await buryNodes(use.db, goneMs)
  return orphans.length
}

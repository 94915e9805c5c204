import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { listBackgroundOf, listBackgroundProjects } from '../store/running.ts'
import { stopResponse, type StopUses } from './stop-response.ts'

const batch = 100
const projectsMax = 10_000

/** Cancels background responses of archived projects: nobody has a key to do it with. Returns how many. */
export async function sweepArchived(
  use: StopUses & { readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]> },
): Promise<number> {
  const archived = await use.archivedOf(await listBackgroundProjects(use.db, projectsMax))
  let stopped = 0
  for (const { id, project_id: projectId } of await listBackgroundOf(use.db, archived, batch)) {
    if (await stopResponse(use, projectId, id, { status: 'cancelled' })) stopped += 1
  }
  return stopped
}

import type { ListedFile } from '../domain/file-id.ts'
import { hostCommands, type FileInput, type HostFile } from '../host/wire.ts'
import { findAnyContainer } from '../store/containers.ts'
import { reachHost, type ReachUses } from './reach-host.ts'

/** The files under /mnt/data, as they are now. A container that has no machine yet does not get one for being looked at. */
export async function listFilesOf(use: ReachUses, id: string): Promise<ListedFile[]> {
  const row = await findAnyContainer(use.db, id)
  if (row !== null && row.host_id === null && (row.status === 'active' || row.status === 'reserved')) {
    const modifiedMs = row.created_at.getTime()
    return row.files.map(({ filename, bytes }) => ({ path: filename, bytes, modifiedMs, source: 'user' }))
  }
  const { value } = await reachHost(use, id, (owner, order) =>
    use.mesh.ask(owner, hostCommands.listFiles, { input: { order, path: '' } satisfies FileInput }),
  )
  return value as HostFile[]
}

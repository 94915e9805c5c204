import type { ListedFile } from '../domain/file-id.ts'
import { hostCommands, type FileInput, type HostFile } from '../host/wire.ts'
import { reachHost, type ReachUses } from './reach-host.ts'

/** The files under /mnt/data, as they are now. */
export async function listFilesOf(use: ReachUses, id: string): Promise<ListedFile[]> {
  const { value } = await reachHost(use, id, (owner, order) =>
    use.mesh.ask(owner, hostCommands.listFiles, { input: { order, path: '' } satisfies FileInput }),
  )
  return value as HostFile[]
}

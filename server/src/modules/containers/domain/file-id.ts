import type { ContainerFile } from '@switchyard/contracts/containers.ts'
import type { ContainerFileId, ContainerId } from '@switchyard/contracts/ids.ts'
import { createHash } from 'node:crypto'
import { base32 } from '#platform/std/ids.ts'

const idBytes = 16
const dataFolder = '/mnt/data'

/** The same for a path of a container whoever writes there, and however often: nothing has to remember it. */
export function containerFileId(containerId: string, path: string): ContainerFileId {
  const digest = createHash('sha256').update(`${containerId}\0${path}`).digest()
  return `cfile_${base32(digest.subarray(0, idBytes))}` as ContainerFileId
}

export interface ListedFile {
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
  readonly source: 'user' | 'assistant'
}

export function containerFileView(containerId: string, file: ListedFile): ContainerFile {
  return {
    id: containerFileId(containerId, file.path),
    object: 'container.file',
    container_id: containerId as ContainerId,
    created_at: Math.floor(file.modifiedMs / 1_000),
    bytes: file.bytes,
    path: `${dataFolder}/${file.path}`,
    source: file.source,
  }
}

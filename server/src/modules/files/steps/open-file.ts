import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Readable } from 'node:stream'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { findFile, listPieces } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { openPieces } from './open-pieces.ts'

export interface OpenedFile {
  readonly filename: string
  readonly bytes: number
  /** Opened when it is asked for. */
  stream(): Promise<Readable>
}

/** A file of any size, to be copied elsewhere. Null when the project has no such file. */
export async function openFile(
  use: { db: Db<FilesTables>; blobs: Blobs },
  projectId: ProjectId,
  id: FileId,
): Promise<OpenedFile | null> {
  const file = await findFile(use.db, projectId, id)
  if (file === null) return null
  return {
    filename: file.filename,
    bytes: file.bytes,
    stream: async () => await openPieces(use.blobs, await listPieces(use.db, file.id), 0, file.bytes - 1),
  }
}

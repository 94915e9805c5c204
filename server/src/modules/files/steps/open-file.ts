import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Readable } from 'node:stream'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { findFile, listPieces } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { openPieces } from './open-pieces.ts'

export interface OpenedFile {
  readonly filename: string
  readonly purpose: string
  readonly bytes: number
  /** Opened when it is asked for. */
  stream(): Promise<Readable>
  /** Some bytes from an offset on; may be asked for again and again. */
  range(offset: number, bytes: number): Promise<Readable>
}

/** A file of any size, to be copied elsewhere. Null when the project has no such file. */
export async function openFile(
  use: { db: Db<FilesTables>; blobs: Blobs },
  projectId: ProjectId,
  id: FileId,
): Promise<OpenedFile | null> {
  const file = await findFile(use.db, projectId, id)
  if (file === null) return null
  let pieces: ReturnType<typeof listPieces> | null = null
  const range = async (offset: number, bytes: number) => {
    pieces ??= listPieces(use.db, file.id)
    return await openPieces(use.blobs, await pieces, offset, offset + bytes - 1)
  }
  return {
    filename: file.filename,
    purpose: file.purpose,
    bytes: file.bytes,
    stream: () => range(0, file.bytes),
    range,
  }
}

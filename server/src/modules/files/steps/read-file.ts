import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { extname } from 'node:path'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { findFile, listPieces, type FileRow } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { openPieces } from './open-pieces.ts'

export interface ReadFile {
  readonly filename: string
  readonly mimeType: string
  readonly base64: string
}

/** What a model is given is held in memory and sent on: a larger file is refused. */
const readBytesMax = 32 * 1024 * 1024

const mimeTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
  '.json': 'application/json',
  '.csv': 'text/csv',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
}

function checkSize({ id, bytes }: FileRow): void {
  if (bytes <= readBytesMax) return
  throw new Fault('file_too_large', `A model reads files of up to ${readBytesMax} bytes; ${id} has ${bytes}.`)
}

/** Throws what `readFile` would throw. */
export async function isReadable(use: { db: Db<FilesTables> }, projectId: ProjectId, id: FileId): Promise<boolean> {
  const file = await findFile(use.db, projectId, id)
  if (file !== null) checkSize(file)
  return file !== null
}

export async function readFile(
  use: { db: Db<FilesTables>; blobs: Blobs },
  projectId: ProjectId,
  id: FileId,
): Promise<ReadFile | null> {
  const file = await findFile(use.db, projectId, id)
  if (file === null) return null
  checkSize(file)
  const stream = await openPieces(use.blobs, await listPieces(use.db, file.id), 0, file.bytes - 1)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return {
    filename: file.filename,
    mimeType: mimeTypes[extname(file.filename).toLowerCase()] ?? 'application/octet-stream',
    base64: Buffer.concat(chunks).toString('base64'),
  }
}

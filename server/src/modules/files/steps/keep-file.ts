import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { newBlobName, type Blobs } from '#platform/blobs/blobs.ts'
import type { Tx } from '#platform/db/tx.ts'
import { newId } from '#platform/std/ids.ts'
import { insertFile, type Piece } from '../store/files.ts'
import { blobPrefix } from './receive-blob.ts'

/** Bytes that are stored and belong to no file yet. Left alone, they are swept. */
export type KeptBytes = Piece

/** Stores what a module of ours has made, as a stream. */
export async function keepBytes(
  blobs: Blobs,
  source: AsyncIterable<Uint8Array>,
  limits: { bytesMax: number; signal: AbortSignal },
): Promise<KeptBytes> {
  const blob = newBlobName(blobPrefix)
  const { bytes } = await blobs.put(blob, source, limits)
  return { blob, bytes }
}

export interface MadeFile {
  readonly projectId: ProjectId
  readonly filename: string
  readonly purpose: 'batch_output'
  /** Null never expires. */
  readonly expiresSeconds: number | null
  readonly kept: KeptBytes
}

/** Makes a file of them, in the transaction of whatever it is the result of. */
export async function addFile(
  tx: Tx,
  { projectId, filename, purpose, expiresSeconds, kept }: MadeFile,
): Promise<FileId> {
  const id = newId<FileId>('file-')
  await insertFile(tx, { id, projectId, filename, purpose, expiresSeconds, pieces: [kept] })
  return id
}

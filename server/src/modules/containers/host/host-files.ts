import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Readable } from 'node:stream'
import type { Files } from '#modules/files/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { safeFilename } from '../domain/file-names.ts'
import type { Box } from './box.ts'
import type { HostFile, WriteInput } from './wire.ts'

/** Up to this much later a file still counts as the user's: writing the note takes a moment. */
const sameMs = 1

export async function listBoxFiles(box: Box): Promise<HostFile[]> {
  const files = await box.files.walk()
  return files.map((file) => ({ ...file, source: sourceOf(box, file.path, file.modifiedMs) }))
}

/** A file is the user's until a command writes to it. */
function sourceOf(box: Box, path: string, modifiedMs: number): HostFile['source'] {
  const uploadedMs = box.note.uploads[path]
  return uploadedMs !== undefined && Math.abs(uploadedMs - modifiedMs) <= sameMs ? 'user' : 'assistant'
}

export async function writeBoxFile(
  use: { readonly files: Pick<Files, 'open'>; readonly uid: number },
  box: Box,
  { order, filename, fileId }: WriteInput,
  body: Readable,
): Promise<HostFile> {
  const { name, source } = await sourceFor(use, order.projectId, filename, fileId, body)
  try {
    const { bytes, modifiedMs } = await box.files.write(name, { uid: use.uid }, source)
    await box.write({ uploads: { ...box.note.uploads, [name]: modifiedMs } })
    return { path: name, bytes, modifiedMs, source: 'user' }
  } catch (error) {
    throw full(error) ?? error
  }
}

async function sourceFor(
  use: { readonly files: Pick<Files, 'open'> },
  projectId: string,
  filename: string,
  fileId: string | null,
  body: Readable,
): Promise<{ name: string; source: AsyncIterable<Uint8Array> }> {
  if (fileId === null) return { name: safeFilename(filename), source: body }
  const file = await use.files.open(projectId as ProjectId, fileId as FileId)
  if (file === null) throw new Fault('not_found', 'No such file.', { param: 'file_id' })
  return { name: safeFilename(filename === '' ? file.filename : filename), source: await file.stream() }
}

function full(error: unknown): Fault | null {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new Fault('file_too_large', 'There is no room left under /mnt/data.', { cause: error })
  }
  if (code === 'EISDIR' || code === 'ENOTEMPTY' || code === 'ENOTDIR') {
    return new Fault('invalid_value', 'A folder under /mnt/data has this name.', { param: 'file', cause: error })
  }
  return null
}

import { completeUpload } from '@switchyard/contracts/files.ts'
import type { FileId, PartId } from '@switchyard/contracts/ids.ts'
import { createHash } from 'node:crypto'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { uploadView } from '../domain/file-view.ts'
import { openPieces } from '../steps/open-pieces.ts'
import { insertFile } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { closeUpload, deleteParts, listParts, lockPending, type PartRow } from '../store/uploads.ts'
import { getPending, notPending } from './create-upload-part.ts'

export const completeUploadRoute = (use: { db: Db<FilesTables>; blobs: Blobs }) =>
  route(completeUpload, async ({ scope, params, body, commit }) => {
    // Before the upload: where another completion has taken them meanwhile, it is closed, and that is what is told.
    const found = await listParts(use.db, params.upload_id, body.part_ids)
    const upload = await getPending(use.db, scope.projectId, params.upload_id)
    const parts = inOrder(found, body.part_ids)
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    if (bytes !== upload.bytes) {
      throw new Fault('upload_size_mismatch', `The parts hold ${bytes} bytes; ${upload.bytes} were announced.`, {
        param: 'part_ids',
      })
    }
    if (body.md5 !== undefined) await checkMd5(use.blobs, parts, bytes, body.md5)
    return await commit(async (tx) => {
      // First, so that of two completions at once the second waits here and then finds the upload closed.
      if (!(await lockPending(tx, scope.projectId, params.upload_id))) throw notPending('closed')
      const file = await insertFile(tx, {
        id: newId<FileId>('file-'),
        projectId: scope.projectId,
        filename: upload.filename,
        purpose: upload.purpose,
        expiresSeconds: upload.file_expires_seconds,
        pieces: parts.map(({ blob, bytes: pieceBytes }) => ({ blob, bytes: pieceBytes })),
      })
      const closed = await closeUpload(tx, scope.projectId, params.upload_id, 'completed', file.id)
      if (closed === null) throw notPending('closed')
      await deleteParts(tx, body.part_ids)
      return uploadView(closed, file)
    })
  })

function inOrder(found: readonly PartRow[], ids: readonly PartId[]): PartRow[] {
  const byId = new Map(found.map((part) => [part.id, part]))
  return ids.map((id, index) => {
    const part = byId.get(id)
    if (part === undefined)
      throw new Fault('invalid_value', 'No such part of this upload.', { param: `part_ids[${index}]` })
    // A part can stand in one place only.
    byId.delete(id)
    return part
  })
}

async function checkMd5(blobs: Blobs, parts: readonly PartRow[], bytes: number, expected: string): Promise<void> {
  const hash = createHash('md5')
  for await (const chunk of await openPieces(blobs, parts, 0, bytes - 1)) hash.update(chunk as Buffer)
  if (hash.digest('hex') !== expected.toLowerCase()) {
    throw new Fault('checksum_mismatch', 'The MD5 of the parts is not the one given.', { param: 'md5' })
  }
}

import { createUploadPart, uploadPartBytesMax, uploadPartsMax } from '@switchyard/contracts/files.ts'
import type { PartId, ProjectId, UploadId } from '@switchyard/contracts/ids.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { uploadRoute } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { createdSeconds } from '../domain/file-view.ts'
import { receiveBlob } from '../steps/receive-blob.ts'
import type { FilesTables } from '../store/tables.ts'
import { findUpload, insertPart, sumParts, type UploadRow } from '../store/uploads.ts'

export const noSuchUpload = () => new Fault('not_found', 'No such upload.', { param: 'upload_id' })
export const notPending = (status: string) =>
  new Fault('upload_not_pending', `The upload is ${status}; only a pending one can go on.`, { param: 'upload_id' })

/** A pending upload of the project, or the fault that says why not. */
export async function getPending(db: Db<FilesTables>, projectId: ProjectId, id: UploadId): Promise<UploadRow> {
  const upload = await findUpload(db, projectId, id)
  if (upload === null) throw noSuchUpload()
  if (upload.status !== 'pending') throw notPending(upload.status)
  return upload
}

/** Room for parts that were sent twice because a client did not hear that the first one arrived. */
const storedBytesMax = (announced: number) => 2 * announced + uploadPartBytesMax

export const createUploadPartRoute = (use: { db: Db<FilesTables>; blobs: Blobs }) => {
  const receiver = receiveBlob(use.blobs, createUploadPart.body)
  return uploadRoute(
    createUploadPart,
    {
      ...receiver,
      async receive(file, context) {
        // Asked before the bytes are taken; the insert below asks again, and its answer counts.
        const upload = await getPending(use.db, context.scope.projectId, context.params.upload_id)
        const stored = await sumParts(use.db, context.params.upload_id)
        if (stored.count >= uploadPartsMax || stored.bytes > storedBytesMax(upload.bytes)) {
          throw new Fault('upload_size_mismatch', 'The upload holds more parts than its announced bytes can need.')
        }
        return await receiver.receive(file, context)
      },
    },
    async ({ scope, params, file, commit }) =>
      commit(async (tx) => {
        const part = { id: newId<PartId>('part_'), blob: file.blob, bytes: file.bytes }
        const row = await insertPart(tx, scope.projectId, params.upload_id, part)
        if (row === null) throw notPending('closed')
        return {
          id: part.id,
          object: 'upload.part',
          created_at: createdSeconds(row.created_at),
          upload_id: params.upload_id,
        } as const
      }),
  )
}

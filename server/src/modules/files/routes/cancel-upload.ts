import { cancelUpload } from '@switchyard/contracts/files.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import { uploadView } from '../domain/file-view.ts'
import type { FilesTables } from '../store/tables.ts'
import { closeUpload } from '../store/uploads.ts'
import { getPending, notPending } from './create-upload-part.ts'

export const cancelUploadRoute = (use: { db: Db<FilesTables> }) =>
  route(cancelUpload, async ({ scope, params }) => {
    await getPending(use.db, scope.projectId, params.upload_id)
    const closed = await use.db.tx((tx) => closeUpload(tx, scope.projectId, params.upload_id, 'cancelled', null))
    if (closed === null) throw notPending('closed')
    return uploadView(closed, null)
  })

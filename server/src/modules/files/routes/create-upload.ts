import { createUpload } from '@switchyard/contracts/files.ts'
import type { UploadId } from '@switchyard/contracts/ids.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { expirySeconds } from '../domain/expiry.ts'
import { uploadView } from '../domain/file-view.ts'
import { insertUpload } from '../store/uploads.ts'

const pendingSeconds = 3_600

export const createUploadRoute = () =>
  route(createUpload, async ({ scope, body, commit }) =>
    commit(async (tx) => {
      const row = await insertUpload(tx, {
        id: newId<UploadId>('upload_'),
        projectId: scope.projectId,
        filename: body.filename,
        purpose: body.purpose,
        mimeType: body.mime_type,
        bytes: body.bytes,
        fileExpiresSeconds: expirySeconds(body.purpose, body.expires_after),
        pendingSeconds,
      })
      return uploadView(row, null)
    }),
  )

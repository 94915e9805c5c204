import { createFile } from '@switchyard/contracts/files.ts'
import type { FileId } from '@switchyard/contracts/ids.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import { uploadRoute } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { expirySeconds } from '../domain/expiry.ts'
import { fileView } from '../domain/file-view.ts'
import { receiveBlob } from '../steps/receive-blob.ts'
import { insertFile } from '../store/files.ts'

export const createFileRoute = (use: { blobs: Blobs }) =>
  uploadRoute(createFile, receiveBlob(use.blobs, createFile.body), async ({ scope, body, file, commit }) =>
    commit(async (tx) => {
      const row = await insertFile(tx, {
        id: newId<FileId>('file-'),
        projectId: scope.projectId,
        filename: file.filename,
        purpose: body.purpose,
        expiresSeconds: expirySeconds(body.purpose, body.expires_after),
        pieces: [{ blob: file.blob, bytes: file.bytes }],
      })
      return fileView(row)
    }),
  )

import { deleteFile } from '@switchyard/contracts/files.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import * as store from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { noSuchFile } from './retrieve-file.ts'

/** The row ends first; the sweep then removes the bytes, and removes them again should it die half way. */
export const deleteFileRoute = (use: { db: Db<FilesTables> }) =>
  route(deleteFile, async ({ scope, params }) => {
    const deleted = await use.db.tx((tx) => store.deleteFile(tx, scope.projectId, params.file_id))
    if (!deleted) throw noSuchFile()
    return { id: params.file_id, object: 'file', deleted: true } as const
  })

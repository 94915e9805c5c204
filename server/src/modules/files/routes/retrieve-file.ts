import { retrieveFile } from '@switchyard/contracts/files.ts'
import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { fileView } from '../domain/file-view.ts'
import { findFile, type FileRow } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'

export const noSuchFile = () => new Fault('not_found', 'No such file.', { param: 'file_id' })

export async function getFile(db: Db<FilesTables>, projectId: ProjectId, id: FileId): Promise<FileRow> {
  const row = await findFile(db, projectId, id)
  if (row === null) throw noSuchFile()
  return row
}

export const retrieveFileRoute = (use: { db: Db<FilesTables> }) =>
  route(retrieveFile, async ({ scope, params }) => fileView(await getFile(use.db, scope.projectId, params.file_id)))

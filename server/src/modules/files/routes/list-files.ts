import { listFiles } from '@switchyard/contracts/files.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { fileView } from '../domain/file-view.ts'
import * as store from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'

export const listFilesRoute = (use: { db: Db<FilesTables> }) =>
  route(listFiles, async ({ scope, query }) => {
    if (query.after !== undefined && !(await store.isFileCursor(use.db, scope.projectId, query.after))) {
      throw new Fault('invalid_value', 'No file with the id given in after.', { param: 'after' })
    }
    const rows = await store.listFiles(use.db, scope.projectId, {
      after: query.after,
      limit: query.limit,
      order: query.order,
      purpose: query.purpose,
    })
    return pageView(rows, query.limit, fileView)
  })

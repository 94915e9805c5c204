import { retrieveFileContent } from '@switchyard/contracts/files.ts'
import { BlobMissing, type Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { attachmentHeaders } from '#platform/http/attachment.ts'
import { BinaryReply } from '#platform/http/binary-reply.ts'
import { route } from '#platform/http/route.ts'
import { parseByteRange } from '#platform/std/bytes.ts'
import { openPieces } from '../steps/open-pieces.ts'
import { listPieces } from '../store/files.ts'
import type { FilesTables } from '../store/tables.ts'
import { getFile, noSuchFile } from './retrieve-file.ts'

export const retrieveFileContentRoute = (use: { db: Db<FilesTables>; blobs: Blobs }) =>
  route(retrieveFileContent, async ({ scope, params, request }) => {
    const file = await getFile(use.db, scope.projectId, params.file_id)
    const range = parseByteRange(request.header('range'), file.bytes)
    if (range === 'unsatisfiable') {
      throw new Fault('range_not_satisfiable', `The file has ${file.bytes} bytes.`, {
        headers: { 'content-range': `bytes */${file.bytes}` },
      })
    }
    const { start, end } = range ?? { start: 0, end: file.bytes - 1 }
    const headers = { ...attachmentHeaders(file.filename, end - start + 1), 'accept-ranges': 'bytes' } as Record<
      string,
      string
    >
    if (range !== null) headers['content-range'] = `bytes ${start}-${end}/${file.bytes}`
    try {
      const pieces = await listPieces(use.db, file.id)
      if (pieces.length === 0) throw noSuchFile()
      const stream = await openPieces(use.blobs, pieces, start, end)
      return new BinaryReply({ status: range === null ? 200 : 206, headers, stream })
    } catch (error) {
      // Deleted and swept between the reads: it is gone, and that is the answer.
      if (error instanceof BlobMissing) throw noSuchFile()
      throw error
    }
  })

import { filenameMax } from '@switchyard/contracts/files.ts'
import type { MultipartBody } from '@switchyard/contracts/operation.ts'
import { newBlobName, type Blobs } from '#platform/blobs/blobs.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { IncomingFile, RequestFacts } from '#platform/http/route.ts'

export interface ReceivedBlob {
  readonly blob: string
  readonly bytes: number
  readonly sha256: string
  readonly filename: string
}

/** All blobs of this module begin with it; the orphan sweep looks nowhere else. */
export const blobPrefix = 'files'

/** Streams a part to a blob of its own. The row that names it comes after; a blob without a row is swept. */
export function receiveBlob(blobs: Blobs, body: MultipartBody | undefined) {
  const bytesMax = body?.file.bytesMax ?? 0
  return {
    async receive(file: IncomingFile, { request }: { request: RequestFacts }): Promise<ReceivedBlob> {
      if (file.filename.length > filenameMax) {
        throw new Fault('string_above_max_length', `A file name has at most ${filenameMax} characters.`, {
          param: body?.file.name,
        })
      }
      const blob = newBlobName(blobPrefix)
      const { bytes, sha256 } = await blobs.put(blob, file.stream, { bytesMax, signal: request.signal })
      return { blob, bytes, sha256, filename: file.filename }
    },
    async discard({ blob }: ReceivedBlob): Promise<void> {
      await blobs.remove(blob)
    },
  }
}

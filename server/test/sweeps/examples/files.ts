import { createFile, createUpload, createUploadPart, type fileOperations } from '@switchyard/contracts/files.ts'
import { fileForm, partForm, uploadBody } from '#modules/files/testing/file-forms.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

export const newFile = (at: Place) => make(at, createFile, { body: fileForm() })

/** As many as the part of partForm has. */
const partBytes = 12

export const newUpload = (at: Place) => make(at, createUpload, { body: uploadBody(partBytes) })

export async function newPart(at: Place): Promise<{ uploadId: string; partId: string }> {
  const { id: uploadId } = await newUpload(at)
  const part = await make(at, createUploadPart, { params: { upload_id: uploadId }, body: partForm() })
  return { uploadId, partId: part.id }
}

const fileParams: MakeExample = async (at) => ({ params: { file_id: (await newFile(at)).id } })

export const fileExamples: Record<(typeof fileOperations)[number]['id'], MakeExample> = {
  'files.create': async () => ({ body: fileForm() }),
  'files.list': async (at) => ({ query: { after: (await newFile(at)).id }, references: ['query.after'] }),
  'files.retrieve': fileParams,
  'files.delete': fileParams,
  'files.content': fileParams,
  'uploads.create': async () => ({
    body: uploadBody(partBytes, { expires_after: { anchor: 'created_at', seconds: 3_600 } }),
  }),
  'uploads.parts.create': async (at) => ({ params: { upload_id: (await newUpload(at)).id }, body: partForm() }),
  'uploads.complete': async (at) => {
    const { uploadId, partId } = await newPart(at)
    return { params: { upload_id: uploadId }, body: { part_ids: [partId] }, references: ['body.part_ids.0'] }
  },
  'uploads.cancel': async (at) => ({ params: { upload_id: (await newUpload(at)).id }, body: {} }),
}

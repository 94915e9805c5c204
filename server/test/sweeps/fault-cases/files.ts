import { cancelUpload, completeUpload, uploadPartBytesMax, type fileOperations } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { fileForm, partForm } from '#modules/files/testing/file-forms.ts'
import { newFile, newPart, newUpload } from '../examples/files.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const noFile: FaultCase = async () => ({ params: { file_id: 'file-none' }, param: 'file_id' })
const noUpload = { params: { upload_id: 'upload_none' }, param: 'upload_id' }

const huge = {
  headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(10 * 1024 ** 3) },
  chunks: [],
}

function withSecondFile(form: FormData, name: string): FormData {
  form.append(name, new Blob(['second']), 'second')
  return form
}

async function cancelled(at: Place): Promise<{ upload_id: string }> {
  const params = { upload_id: (await newUpload(at)).id }
  await make(at, cancelUpload, { params })
  return params
}

export const fileFaults: FaultCases<typeof fileOperations> = {
  'files.create': {
    file_too_large: async () => ({ raw: huge, param: null }),
    invalid_multipart: async () => ({ body: withSecondFile(fileForm(), 'file'), param: 'file' }),
  },
  'files.retrieve': { not_found: noFile },
  'files.delete': { not_found: noFile },
  'files.content': {
    not_found: noFile,
    range_not_satisfiable: async (at) => ({
      params: { file_id: (await newFile(at)).id },
      headers: { range: 'bytes=1000-' },
      param: null,
    }),
  },
  'uploads.parts.create': {
    not_found: async () => ({ ...noUpload, body: partForm() }),
    upload_not_pending: async (at) => ({ params: await cancelled(at), body: partForm(), param: 'upload_id' }),
    async upload_size_mismatch(at) {
      const { uploadId, partId } = await newPart(at)
      await sql`update files.part set bytes = ${2 * uploadPartBytesMax} where id = ${partId}`.execute(at.app.db.kysely)
      return { params: { upload_id: uploadId }, body: partForm(), param: null }
    },
    file_too_large: async (at) => ({ params: { upload_id: (await newUpload(at)).id }, raw: huge, param: null }),
    invalid_multipart: async (at) => ({
      params: { upload_id: (await newUpload(at)).id },
      body: withSecondFile(partForm(), 'data'),
      param: 'data',
    }),
  },
  'uploads.complete': {
    not_found: async () => ({ ...noUpload, body: { part_ids: ['part_none'] } }),
    async upload_not_pending(at) {
      const { uploadId, partId } = await newPart(at)
      const input = { params: { upload_id: uploadId }, body: { part_ids: [partId] } }
      await make(at, completeUpload, input)
      return { ...input, param: 'upload_id' }
    },
    async upload_size_mismatch(at) {
      const { uploadId, partId } = await newPart(at)
      await sql`update files.upload set bytes = bytes + 1 where id = ${uploadId}`.execute(at.app.db.kysely)
      return { params: { upload_id: uploadId }, body: { part_ids: [partId] }, param: 'part_ids' }
    },
    async checksum_mismatch(at) {
      const { uploadId, partId } = await newPart(at)
      return { params: { upload_id: uploadId }, body: { part_ids: [partId], md5: '0'.repeat(32) }, param: 'md5' }
    },
  },
  'uploads.cancel': {
    not_found: async () => noUpload,
    upload_not_pending: async (at) => ({ params: await cancelled(at), param: 'upload_id' }),
  },
}

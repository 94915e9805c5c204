import { z } from 'zod'
import { FileId, PartId, UploadId } from './ids.ts'
import { operation } from './operation.ts'
import { Order, pageOf, pageQuery } from './page.ts'

export const fileBytesMax = 512 * 1024 * 1024
export const uploadBytesMax = 8 * 1024 * 1024 * 1024
export const uploadPartBytesMax = 64 * 1024 * 1024
export const filesPageMax = 10_000
export const filenameMax = 1_000
const mimeTypeMax = 255
/** 8 GB in parts of 64 MB is 128; smaller parts are allowed down to a sensible count. */
export const uploadPartsMax = 10_000

export const UploadPurpose = z.enum(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'])
export const FilePurpose = z.enum([...UploadPurpose.options, 'assistants_output', 'batch_output', 'fine-tune-results'])

export const ExpiresAfter = z.strictObject({
  anchor: z.literal('created_at'),
  seconds: z.coerce.number().int().min(3_600).max(2_592_000),
})

const timestamp = z.int().nonnegative()

export const File = z
  .strictObject({
    id: FileId,
    object: z.literal('file'),
    bytes: z.int().nonnegative(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    filename: z.string(),
    purpose: FilePurpose,
    status: z.enum(['uploaded', 'processed', 'error']),
    status_details: z.string().nullable(),
  })
  .meta({ id: 'File' })

export const Upload = z
  .strictObject({
    id: UploadId,
    object: z.literal('upload'),
    bytes: z.int().nonnegative(),
    created_at: timestamp,
    expires_at: timestamp,
    filename: z.string(),
    purpose: UploadPurpose,
    status: z.enum(['pending', 'completed', 'cancelled', 'expired']),
    file: File.nullable(),
  })
  .meta({ id: 'Upload' })

export const UploadPart = z
  .strictObject({
    id: PartId,
    object: z.literal('upload.part'),
    created_at: timestamp,
    upload_id: UploadId,
  })
  .meta({ id: 'UploadPart' })

export type File = z.infer<typeof File>
export type Upload = z.infer<typeof Upload>
export type UploadPart = z.infer<typeof UploadPart>

const fileParams = z.strictObject({ file_id: FileId })
const uploadParams = z.strictObject({ upload_id: UploadId })

export const createFile = operation({
  id: 'files.create',
  method: 'POST',
  path: '/v1/files',
  summary: 'Upload a file of at most 512 MB.',
  auth: 'project_key',
  scope: 'files.write',
  body: {
    kind: 'multipart',
    fields: z.strictObject({ purpose: UploadPurpose, expires_after: ExpiresAfter.optional() }),
    file: { name: 'file', bytesMax: fileBytesMax },
  },
  reply: File,
  faults: ['file_too_large', 'invalid_multipart'],
  creates: true,
})

export const listFiles = operation({
  id: 'files.list',
  method: 'GET',
  path: '/v1/files',
  summary: 'List the files of the project, newest first.',
  auth: 'project_key',
  scope: 'files.read',
  query: pageQuery({ default: filesPageMax, max: filesPageMax }).extend({
    order: Order,
    purpose: FilePurpose.optional(),
  }),
  reply: pageOf(File),
})

export const retrieveFile = operation({
  id: 'files.retrieve',
  method: 'GET',
  path: '/v1/files/{file_id}',
  summary: 'Read what is known about a file.',
  auth: 'project_key',
  scope: 'files.read',
  params: fileParams,
  reply: File,
  faults: ['not_found'],
})

export const deleteFile = operation({
  id: 'files.delete',
  method: 'DELETE',
  path: '/v1/files/{file_id}',
  summary: 'Delete a file and its content.',
  auth: 'project_key',
  scope: 'files.write',
  params: fileParams,
  reply: z.strictObject({ id: FileId, object: z.literal('file'), deleted: z.literal(true) }),
  faults: ['not_found'],
})

export const retrieveFileContent = operation({
  id: 'files.content',
  method: 'GET',
  path: '/v1/files/{file_id}/content',
  summary: 'Download a file; a single byte range is honoured.',
  auth: 'project_key',
  scope: 'files.read',
  params: fileParams,
  reply: 'binary',
  faults: ['not_found', 'range_not_satisfiable'],
})

export const createUpload = operation({
  id: 'uploads.create',
  method: 'POST',
  path: '/v1/uploads',
  summary: 'Announce a large file that will arrive in parts.',
  auth: 'project_key',
  scope: 'files.write',
  body: z.strictObject({
    bytes: z.int().min(1).max(uploadBytesMax),
    filename: z.string().min(1).max(filenameMax),
    mime_type: z.string().min(1).max(mimeTypeMax),
    purpose: UploadPurpose,
    expires_after: ExpiresAfter.optional(),
  }),
  reply: Upload,
  creates: true,
})

export const createUploadPart = operation({
  id: 'uploads.parts.create',
  method: 'POST',
  path: '/v1/uploads/{upload_id}/parts',
  summary: 'Add one part of at most 64 MB; parts may arrive in parallel.',
  auth: 'project_key',
  scope: 'files.write',
  params: uploadParams,
  body: { kind: 'multipart', fields: z.strictObject({}), file: { name: 'data', bytesMax: uploadPartBytesMax } },
  reply: UploadPart,
  faults: ['not_found', 'upload_not_pending', 'upload_size_mismatch', 'file_too_large', 'invalid_multipart'],
  creates: true,
})

export const completeUpload = operation({
  id: 'uploads.complete',
  method: 'POST',
  path: '/v1/uploads/{upload_id}/complete',
  summary: 'Turn the parts, in the order given, into a file.',
  auth: 'project_key',
  scope: 'files.write',
  params: uploadParams,
  body: z.strictObject({
    part_ids: z.array(PartId).min(1).max(uploadPartsMax),
    md5: z
      .string()
      .regex(/^[0-9a-fA-F]{32}$/)
      .optional(),
  }),
  reply: Upload,
  faults: ['not_found', 'upload_not_pending', 'upload_size_mismatch', 'checksum_mismatch'],
})

export const cancelUpload = operation({
  id: 'uploads.cancel',
  method: 'POST',
  path: '/v1/uploads/{upload_id}/cancel',
  summary: 'Give up an upload; its parts are removed.',
  auth: 'project_key',
  scope: 'files.write',
  params: uploadParams,
  body: z.strictObject({}),
  bodyOptional: true,
  reply: Upload,
  faults: ['not_found', 'upload_not_pending'],
})

export const fileOperations = [
  createFile,
  listFiles,
  retrieveFile,
  deleteFile,
  retrieveFileContent,
  createUpload,
  createUploadPart,
  completeUpload,
  cancelUpload,
] as const

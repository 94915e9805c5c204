import { z } from 'zod'
import { operation } from './operation.ts'

const idMax = 96
const filesMax = 500
const params = z.object({ vector_store_id: z.string().max(idMax) })
const Attached = z.record(z.string(), z.unknown())
const FileText = z.string().min(1).max(idMax)

/** Both paths are counted together, and answer 501 until there are vector stores. */
export const createVectorStoreFile = operation({
  id: 'vector_stores.files.create',
  method: 'POST',
  path: '/v1/vector_stores/{vector_store_id}/files',
  summary: 'Put a file into a vector store. Not offered yet; its rate limit is.',
  auth: 'project_key',
  scope: 'vector_stores.write',
  params,
  body: z.strictObject({
    file_id: FileText,
    attributes: Attached.nullable().optional(),
    chunking_strategy: Attached.optional(),
  }),
  reply: z.strictObject({}),
  faults: ['not_implemented'],
  limited: 'vector_store',
})

export const createVectorStoreFileBatch = operation({
  id: 'vector_stores.file_batches.create',
  method: 'POST',
  path: '/v1/vector_stores/{vector_store_id}/file_batches',
  summary: 'Put many files into a vector store with one request. Not offered yet; its rate limit is.',
  auth: 'project_key',
  scope: 'vector_stores.write',
  params,
  body: z.strictObject({
    file_ids: z.array(FileText).max(filesMax).optional(),
    files: z
      .array(
        z.strictObject({
          file_id: FileText,
          attributes: Attached.nullable().optional(),
          chunking_strategy: Attached.optional(),
        }),
      )
      .max(filesMax)
      .optional(),
    attributes: Attached.nullable().optional(),
    chunking_strategy: Attached.optional(),
  }),
  reply: z.strictObject({}),
  faults: ['not_implemented'],
  limited: 'vector_store',
})

export const vectorStoreOperations = [createVectorStoreFile, createVectorStoreFileBatch] as const

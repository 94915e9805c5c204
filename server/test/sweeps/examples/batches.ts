import { createBatch, type batchOperations } from '@switchyard/contracts/batches.ts'
import { createFile } from '@switchyard/contracts/files.ts'
import { batchLine } from '#modules/batches/testing/batch-lines.ts'
import { fileForm } from '#modules/files/testing/file-forms.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

const content = `${JSON.stringify(batchLine('/v1/responses', 'a', 'Hello.'))}\n`

async function batchBody(at: Place): Promise<Record<string, unknown>> {
  const file = await make(at, createFile, { body: fileForm(content, { fields: { purpose: 'batch' } }) })
  return { input_file_id: file.id, endpoint: '/v1/responses', completion_window: '24h' }
}

/** One that stays as it is: without the role worker nobody takes it up. */
export const newBatch = async (at: Place) => await make(at, createBatch, { body: await batchBody(at) })

const batchParams: MakeExample = async (at) => ({ params: { batch_id: (await newBatch(at)).id } })

export const batchExamples: Record<(typeof batchOperations)[number]['id'], MakeExample> = {
  'batches.create': async (at) => ({
    body: {
      ...(await batchBody(at)),
      output_expires_after: { anchor: 'created_at', seconds: 3_600 },
    },
    references: ['body.input_file_id'],
  }),
  'batches.list': async (at) => ({ query: { after: (await newBatch(at)).id }, references: ['query.after'] }),
  'batches.retrieve': batchParams,
  'batches.cancel': batchParams,
}

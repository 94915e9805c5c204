import { createChatCompletion, type chatCompletionOperations } from '@switchyard/contracts/chat-completions.ts'
import type { completionOperations } from '@switchyard/contracts/completions.ts'
import type { modelOperations } from '@switchyard/contracts/models.ts'
import type { storedCompletionOperations } from '@switchyard/contracts/stored-completions.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

export const chatBody = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }] }
export const completionBody = { model: 'double-chat', prompt: ['One.', 'Two.'] }

type InferenceOperation =
  | (typeof modelOperations)[number]
  | (typeof chatCompletionOperations)[number]
  | (typeof storedCompletionOperations)[number]
  | (typeof completionOperations)[number]

const newStored = async (at: Place) =>
  await make(at, createChatCompletion, { body: { ...chatBody, store: true, metadata: { purpose: 'example' } } })

const storedParams = async (at: Place) => ({ completion_id: (await newStored(at)).id })

export const inferenceExamples: Record<InferenceOperation['id'], MakeExample> = {
  'models.list': async () => ({}),
  'models.retrieve': async () => ({ params: { model: 'double-chat' } }),
  'chat.completions.create': async () => ({ body: chatBody }),
  'chat.completions.list': async (at) => ({
    query: { after: (await newStored(at)).id, 'metadata[purpose]': 'example' },
    references: ['query.after'],
  }),
  'chat.completions.retrieve': async (at) => ({ params: await storedParams(at) }),
  'chat.completions.update': async (at) => ({ params: await storedParams(at), body: { metadata: null } }),
  'chat.completions.delete': async (at) => ({ params: await storedParams(at) }),
  'chat.completions.messages.list': async (at) => ({ params: await storedParams(at), query: { order: 'desc' } }),
  'completions.create': async () => ({ body: completionBody }),
}

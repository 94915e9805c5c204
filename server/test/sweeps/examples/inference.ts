import type { chatCompletionOperations } from '@switchyard/contracts/chat-completions.ts'
import type { completionOperations } from '@switchyard/contracts/completions.ts'
import type { modelOperations } from '@switchyard/contracts/models.ts'
import type { MakeExample } from '../example.ts'

export const chatBody = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }] }
export const completionBody = { model: 'double-chat', prompt: ['One.', 'Two.'] }

type InferenceOperation =
  | (typeof modelOperations)[number]
  | (typeof chatCompletionOperations)[number]
  | (typeof completionOperations)[number]

export const inferenceExamples: Record<InferenceOperation['id'], MakeExample> = {
  'models.list': async () => ({}),
  'models.retrieve': async () => ({ params: { model: 'double-chat' } }),
  'chat.completions.create': async () => ({ body: chatBody }),
  'completions.create': async () => ({ body: completionBody }),
}

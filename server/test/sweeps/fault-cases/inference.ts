import type { chatCompletionOperations } from '@switchyard/contracts/chat-completions.ts'
import type { completionOperations } from '@switchyard/contracts/completions.ts'
import type { modelOperations } from '@switchyard/contracts/models.ts'
import type { storedCompletionOperations } from '@switchyard/contracts/stored-completions.ts'
import type { Answer } from '../../provider-double.ts'
import { chatBody, completionBody } from '../examples/inference.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

type Listed = readonly [
  ...typeof modelOperations,
  ...typeof chatCompletionOperations,
  ...typeof storedCompletionOperations,
  ...typeof completionOperations,
]

/** What the provider says as often as it is asked again. */
const said =
  (body: Record<string, unknown>, answers: readonly Answer[], param: string | null): FaultCase =>
  async (at) => {
    at.app.double.queue(...answers)
    return { body, param }
  }

const onePrompt = { ...completionBody, prompt: 'One.' }
const tooLong = { status: 400, body: { error: { code: 'context_length_exceeded', message: 'Too long.' } } }
const later = { status: 429, headers: { 'retry-after': '30' } }
const broken = { status: 500 }

const params = { completion_id: 'chatcmpl-none' }
const noCompletion: FaultCase = async () => ({ params, param: 'completion_id' })

export const inferenceFaults: FaultCases<Listed> = {
  'models.retrieve': {
    model_not_found: async () => ({ params: { model: 'none' }, param: 'model' }),
  },
  'chat.completions.create': {
    model_not_found: async () => ({ body: { ...chatBody, model: 'none' }, param: 'model' }),
    unsupported_tool: async () => ({ body: { ...chatBody, tools: [{ type: 'shell' }] }, param: 'tools[0].type' }),
    unsupported_value: async () => ({ body: { ...chatBody, n: 2 }, param: 'n' }),
    context_length_exceeded: said(chatBody, [tooLong], 'messages'),
    rate_limit_exceeded: said(chatBody, [later], null),
    provider_error: said(chatBody, [broken, broken, broken], null),
  },
  'chat.completions.retrieve': { not_found: noCompletion },
  'chat.completions.update': {
    not_found: async () => ({ params, body: { metadata: null }, param: 'completion_id' }),
  },
  'chat.completions.delete': { not_found: noCompletion },
  'chat.completions.messages.list': { not_found: noCompletion },
  'completions.create': {
    model_not_found: async () => ({ body: { ...completionBody, model: 'none' }, param: 'model' }),
    unsupported_value: async () => ({ body: { ...completionBody, prompt: [1, 2, 3] }, param: 'prompt[0]' }),
    context_length_exceeded: said(onePrompt, [tooLong], 'prompt'),
    rate_limit_exceeded: said(onePrompt, [later], null),
    provider_error: said(onePrompt, [broken, broken, broken], null),
  },
}

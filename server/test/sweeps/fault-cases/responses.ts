import type { responseOperations } from '@switchyard/contracts/responses/operations.ts'
import type { Answer } from '../../provider-double.ts'
import { newConversation } from '../examples/conversations.ts'
import { newQueued, newResponse, responseBody } from '../examples/responses.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const noResponse: FaultCase = async () => ({ params: { response_id: 'resp_none' }, param: 'response_id' })

const refused =
  (more: object, param: string): FaultCase =>
  async () => ({ body: { ...responseBody, ...more }, param })

/** What the provider says as often as it is asked again. */
const said =
  (answers: readonly Answer[], param: string | null): FaultCase =>
  async (at) => {
    at.app.double.queue(...answers)
    return { body: responseBody, param, leaves: true }
  }

const look = { type: 'function', name: 'look', parameters: {} }
const later = { status: 429, headers: { 'retry-after': '30' } }
const broken = { status: 500 }
const tooLong = { status: 400, body: { error: { code: 'context_length_exceeded', message: 'Too long.' } } }
const noPrevious = refused({ previous_response_id: 'resp_none' }, 'previous_response_id')
const foreignSummary = refused({ input: [{ type: 'compaction', encrypted_content: 'made up' }] }, 'input')
const noModel = refused({ model: 'none' }, 'model')
const unsupportedTool = refused({ tools: [{ type: 'web_search' }] }, 'tools[0].type')
const duplicateTool = refused({ tools: [look, look] }, 'tools[1]')
const noConversation = refused({ conversation: 'conv_none' }, 'conversation')
const both = refused({ conversation: 'conv_a', previous_response_id: 'resp_a' }, 'conversation')
const tokensPastTheModel = 'word '.repeat(200_000)

export const responseFaults: FaultCases<typeof responseOperations> = {
  'responses.create': {
    model_not_found: noModel,
    not_found: noConversation,
    previous_response_not_found: noPrevious,
    context_length_exceeded: refused({ input: tokensPastTheModel }, 'input'),
    unsupported_tool: unsupportedTool,
    duplicate_tool: duplicateTool,
    mutually_exclusive_parameters: both,
    invalid_encrypted_content: foreignSummary,
    async conversation_locked(at) {
      const { id } = await newConversation(at)
      await newQueued(at, { conversation: id })
      return { body: { ...responseBody, conversation: id }, param: 'conversation' }
    },
    rate_limit_exceeded: said([later], null),
    provider_error: said([broken, broken, broken], null),
  },
  'responses.retrieve': {
    not_found: noResponse,
    stream_not_available: async (at) => ({
      params: { response_id: (await newResponse(at)).id },
      query: { stream: 'true' },
      param: 'stream',
    }),
  },
  'responses.delete': { not_found: noResponse },
  'responses.cancel': {
    not_found: noResponse,
    response_not_cancellable: async (at) => ({ params: { response_id: (await newResponse(at)).id }, param: null }),
  },
  'responses.input_items.list': { not_found: noResponse },
  'responses.input_tokens.count': {
    model_not_found: noModel,
    not_found: noConversation,
    previous_response_not_found: noPrevious,
    mutually_exclusive_parameters: both,
    invalid_encrypted_content: foreignSummary,
    unsupported_tool: unsupportedTool,
    duplicate_tool: duplicateTool,
  },
  'responses.compact': {
    model_not_found: noModel,
    previous_response_not_found: noPrevious,
    invalid_encrypted_content: foreignSummary,
    rate_limit_exceeded: said([later], null),
    provider_error: said([broken, broken, broken], null),
    context_length_exceeded: said([tooLong], 'input'),
  },
}

import { createResponse, type responseOperations } from '@switchyard/contracts/responses/operations.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'
import { newFile } from './files.ts'

export const responseBody = { model: 'double-chat', input: 'Hello.' }

export const newResponse = (at: Place, more: object = {}) =>
  make(at, createResponse, { body: { ...responseBody, ...more } })

/** One that stays as it is: without the role worker nobody takes it up. */
export const newQueued = (at: Place, more: object = {}) => newResponse(at, { background: true, ...more })

const responseParams: MakeExample = async (at) => ({ params: { response_id: (await newResponse(at)).id } })

/** Every kind of object that a request can hold, as far as they go together. */
async function everything(at: Place): Promise<Record<string, unknown>> {
  const previous = await newResponse(at)
  return {
    model: 'double-chat',
    previous_response_id: previous.id,
    input: [
      { type: 'item_reference', id: previous.output[0]?.id },
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: (await newFile(at)).id },
          { type: 'input_text', text: 'Hello.' },
        ],
      },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Seen.' }] },
      { type: 'shell_call', call_id: 'call_2', action: { commands: ['ls'] }, environment: null },
      {
        type: 'shell_call_output',
        call_id: 'call_2',
        output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', role: 'user', content: 'And now?' },
    ],
    tools: [
      { type: 'function', name: 'look', parameters: null, strict: false },
      { type: 'custom', name: 'say', format: { type: 'text' } },
      { type: 'shell', environment: { type: 'local', skills: [{ name: 'a', description: 'b', path: '/c' }] } },
      { type: 'apply_patch' },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] },
    text: { format: { type: 'text' }, verbosity: 'low' },
    reasoning: { effort: 'low' },
  }
}

const references = ['body.previous_response_id', 'body.input.0.id', 'body.input.1.content.0.file_id']

export const responseExamples: Record<(typeof responseOperations)[number]['id'], MakeExample> = {
  'responses.create': async (at) => ({
    body: { ...(await everything(at)), context_management: [{ type: 'compaction' }], prompt_cache_options: {} },
    references,
  }),
  'responses.input_tokens.count': async (at) => ({ body: await everything(at), references }),
  'responses.compact': async (at) => ({
    body: { model: 'double-chat', previous_response_id: (await newResponse(at)).id, prompt_cache_options: {} },
    references: ['body.previous_response_id'],
  }),
  'responses.retrieve': responseParams,
  'responses.delete': responseParams,
  'responses.cancel': async (at) => ({ params: { response_id: (await newQueued(at)).id } }),
  'responses.input_items.list': responseParams,
}

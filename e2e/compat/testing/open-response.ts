import assert from 'node:assert/strict'

type Shape = 'text' | 'text or null' | 'number' | 'number or null' | 'flag' | 'list' | 'record' | 'record or null'

/** What every response must have, in the open form that several servers share. */
const fields: Readonly<Record<string, Shape>> = {
  id: 'text',
  object: 'text',
  created_at: 'number',
  completed_at: 'number or null',
  status: 'text',
  incomplete_details: 'record or null',
  model: 'text',
  previous_response_id: 'text or null',
  instructions: 'text or null',
  output: 'list',
  error: 'record or null',
  tools: 'list',
  truncation: 'text',
  parallel_tool_calls: 'flag',
  text: 'record',
  top_p: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  temperature: 'number',
  reasoning: 'record or null',
  usage: 'record or null',
  max_output_tokens: 'number or null',
  max_tool_calls: 'number or null',
  store: 'flag',
  background: 'flag',
  service_tier: 'text',
  metadata: 'record',
  safety_identifier: 'text or null',
  prompt_cache_key: 'text or null',
}

const itemFields: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  message: { id: 'text', status: 'text', role: 'text', content: 'list' },
  function_call: { id: 'text', call_id: 'text', name: 'text', arguments: 'text', status: 'text' },
  reasoning: { id: 'text', summary: 'list' },
  compaction: { id: 'text', encrypted_content: 'text' },
}
const outputText: Readonly<Record<string, Shape>> = { text: 'text', annotations: 'list', logprobs: 'list' }
const functionTool: Readonly<Record<string, Shape>> = { name: 'text', description: 'text or null', strict: 'flag' }

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean' || value === null,
  list: (value) => Array.isArray(value),
  record: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  null: (value) => value === null,
}

function check(what: string, value: unknown, shape: Readonly<Record<string, Shape>>): void {
  for (const [name, wanted] of Object.entries(shape)) {
    const found = (value as Record<string, unknown>)[name]
    const fits = wanted.split(' or ').some((kind) => kinds[kind]?.(found))
    assert.ok(fits, `${what}.${name} is ${wanted}, not ${JSON.stringify(found)}`)
  }
}

type Part = Record<string, unknown>

/** Complains unless a response, as it came over the wire, has every field of the open form. */
export function checkOpenResponse(response: unknown): void {
  check('response', response, fields)
  const { output, tools } = response as { output: Part[]; tools: Part[] }
  for (const item of output) {
    const type = String(item['type'])
    check(type, item, itemFields[type] ?? { id: 'text' })
    if (type !== 'message') continue
    for (const part of item['content'] as Part[]) if (part['type'] === 'output_text') check('part', part, outputText)
  }
  for (const tool of tools) if (tool['type'] === 'function') check('tool', tool, functionTool)
}

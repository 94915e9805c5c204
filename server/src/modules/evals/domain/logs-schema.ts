const text = { type: 'string' }
const count = { type: 'integer' }
const objects = { type: 'array', items: { type: 'object' } }

/** What `sample` holds once a model has answered. */
export const sampleSchema = {
  type: 'object',
  properties: {
    output_text: text,
    output_json: {},
    output_tools: objects,
    choices: objects,
    model: text,
    finish_reason: { type: ['string', 'null'] },
    usage: {
      type: 'object',
      properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count, cached_tokens: count },
    },
  },
  required: ['output_text', 'model', 'choices'],
}

/** What was asked, as rows over stored answers have it. */
const loggedItemSchema = {
  type: 'object',
  properties: {
    id: text,
    input: {
      type: 'array',
      items: { type: 'object', properties: { role: text, content: { type: ['string', 'array', 'null'] } } },
    },
    instructions: text,
    metadata: { type: 'object', additionalProperties: text },
    model: text,
    tools: objects,
  },
  required: ['id', 'input', 'metadata', 'model'],
}

/** The schema of evals over stored responses and chat completions, whose rows bring their samples. */
export const schemaOfLogs = () => ({
  type: 'object',
  properties: { item: loggedItemSchema, sample: sampleSchema },
  required: ['item', 'sample'],
})

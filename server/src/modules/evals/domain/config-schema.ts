import type { CreateDataSourceConfig, DataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'

const text = { type: 'string' }
const count = { type: 'integer' }

/** What `sample` holds once a model has answered. */
const sampleSchema = {
  type: 'object',
  properties: {
    output_text: text,
    output_json: {},
    output_tools: { type: 'array', items: { type: 'object' } },
    choices: { type: 'array', items: { type: 'object' } },
    model: text,
    finish_reason: { type: ['string', 'null'] },
    usage: {
      type: 'object',
      properties: { prompt_tokens: count, completion_tokens: count, total_tokens: count, cached_tokens: count },
    },
  },
  required: ['output_text', 'model', 'choices'],
}

/** Stored answers bring their samples. */
const storedSchema = {
  type: 'object',
  properties: { item: { type: 'object' }, sample: { type: 'object' } },
  required: ['item', 'sample'],
}

function customSchema(item: Record<string, unknown>, withSample: boolean) {
  if (!withSample) return { type: 'object', properties: { item }, required: ['item'] }
  return { type: 'object', properties: { item, sample: sampleSchema }, required: ['item', 'sample'] }
}

/** A config as replies show it: with the schema of everything that templates may refer to. */
export function configView(config: CreateDataSourceConfig): DataSourceConfig {
  switch (config.type) {
    case 'custom':
      return { type: 'custom', schema: customSchema(config.item_schema, config.include_sample_schema ?? false) }
    case 'logs':
    case 'stored_completions':
      return { type: config.type, schema: storedSchema, metadata: config.metadata ?? null }
  }
}

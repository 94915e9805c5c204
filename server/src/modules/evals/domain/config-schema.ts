import type { CreateDataSourceConfig, DataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'
import { sampleSchema, schemaOfLogs } from './logs-schema.ts'

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
      return { type: config.type, schema: schemaOfLogs(), metadata: config.metadata ?? null }
  }
}

import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { CreateDataSourceConfig, CreateRunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import { UsageError } from '../command.ts'
import { GivenDefinition, type WrittenDefinition } from './definition-schema.ts'
import { explain, parseLocated, type LocatedYaml } from './located-yaml.ts'
import type { Bounds } from './verdict.ts'

const definitionBytesMax = 64 * 1024 * 1024

/** What a run goes over: a file that is to be uploaded, or a source as the API takes it. */
export type DefinedSource =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'given'; readonly source: object; readonly rowsTotal: number | null }

/** An eval file, in the words of the API. */
export interface Definition {
  readonly name: string
  /** The eval to make, or the id of the one to use. */
  readonly eval: { readonly id: string } | { readonly body: object }
  readonly source: DefinedSource
  /** The rest of the run's `data_source`. */
  readonly dataSource: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, string>>
  readonly bounds: Bounds
}

interface Reading {
  readonly file: string
  readonly yaml: LocatedYaml
  readonly given: GivenDefinition
  readonly written: WrittenDefinition
}

/** Reads an eval file. Whatever is wrong with it is said with its line and column. */
export function readDefinition(file: string): Definition {
  const yaml = parseLocated(basename(file), readText(file))
  const checked = GivenDefinition.safeParse(yaml.value)
  if (!checked.success) throw new UsageError(explain(yaml, checked.error))
  const given = checked.data
  const reading: Reading = { file, yaml, given, written: yaml.value as WrittenDefinition }
  const name = given.name ?? basename(file).replace(/\.ya?ml$/, '')
  const source = sourceOf(reading)
  return {
    name,
    eval: evalOf(reading, name),
    source,
    dataSource: dataSourceOf(reading, source),
    metadata: given.metadata ?? {},
    bounds: { passRateMin: given.pass_rate_min, errorsMax: given.errors_max },
  }
}

function readText(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as { code?: string }).code}).`)
  }
  if (text.length <= definitionBytesMax) return text
  throw new UsageError(`${file} is too long; put its rows into a file of their own.`)
}

function refuse({ yaml }: Reading, key: string, why: string): never {
  throw new UsageError(`${yaml.placeOf([], key)}: ${why}`)
}

function sourceOf(reading: Reading): DefinedSource {
  const { data, rows, source } = reading.given
  const said = Object.entries({ data, rows, source }).filter(([, value]) => value !== undefined)
  const second = said[1]?.[0]
  if (second !== undefined) refuse(reading, second, `say what to run over once: ${said[0]?.[0]} or ${second}.`)
  if (data !== undefined) return { kind: 'file', path: resolve(dirname(reading.file), data) }
  if (source !== undefined) return { kind: 'given', source, rowsTotal: null }
  if (rows === undefined) refuse(reading, '', 'say what to run over: data (a JSONL file), rows, or source.')
  return { kind: 'given', source: { type: 'file_content', content: rows }, rowsTotal: rows.length }
}

const asking = ['model', 'prompt', 'input_messages', 'sampling_params'] as const

function dataSourceOf(reading: Reading, from: DefinedSource): Record<string, unknown> {
  const { given, written } = reading
  const { model, prompt } = given
  const type = given.type ?? (asking.some((key) => given[key] !== undefined) ? 'responses' : 'jsonl')
  if (prompt !== undefined && given.input_messages !== undefined) {
    refuse(reading, 'prompt', 'prompt is short for input_messages: write one of them.')
  }
  const stray = type === 'jsonl' ? asking.find((key) => given[key] !== undefined) : undefined
  if (stray !== undefined) refuse(reading, stray, `a run of the type jsonl asks no model: remove ${stray} or type.`)
  const messages = prompt === undefined ? written.input_messages : [{ role: 'user', content: prompt }]
  const shorthand = Array.isArray(messages)
  const dataSource = {
    type,
    ...(model !== undefined && { model }),
    ...(messages !== undefined && { input_messages: shorthand ? { type: 'template', template: messages } : messages }),
    ...(written.sampling_params !== undefined && { sampling_params: written.sampling_params }),
  }
  const source = from.kind === 'file' ? { type: 'file_id', id: 'file-to-be' } : from.source
  const { error } = CreateRunDataSource.safeParse({ ...dataSource, source })
  if (error === undefined) return dataSource
  throw new UsageError(
    explain(reading.yaml, error, ([head, ...rest]) => {
      if (head === 'source' && given.rows !== undefined) return ['rows', ...rest.slice(1)]
      if (head !== 'input_messages' || !shorthand || rest.length === 0) return head === undefined ? [] : [head, ...rest]
      return prompt === undefined ? ['input_messages', ...rest.slice(1)] : ['prompt']
    }),
  )
}

const describing = ['item_schema', 'data_source_config', 'testing_criteria'] as const

function evalOf(reading: Reading, name: string): Definition['eval'] {
  const { given, written, yaml } = reading
  const { eval_id: id, item_schema: schema, metadata } = given
  if (id !== undefined) {
    const stray = describing.find((key) => given[key] !== undefined)
    if (stray !== undefined) refuse(reading, stray, `the eval ${id} has its own: remove ${stray} or eval_id.`)
    return { id }
  }
  if (given.testing_criteria === undefined) {
    refuse(reading, '', 'say what passes: testing_criteria, or eval_id of an eval that is there.')
  }
  if (schema !== undefined && given.data_source_config !== undefined) {
    refuse(reading, 'item_schema', 'item_schema is short for data_source_config: write one of them.')
  }
  const custom = { type: 'custom', item_schema: schema ?? { type: 'object' }, include_sample_schema: true }
  const config = given.data_source_config ?? custom
  const { error } = CreateDataSourceConfig.safeParse(config)
  if (error !== undefined) {
    const within = config === custom ? [] : ['data_source_config']
    throw new UsageError(explain(yaml, error, (path) => [...within, ...path]))
  }
  const body = { name, data_source_config: config, testing_criteria: written.testing_criteria }
  return { body: metadata === undefined ? body : { ...body, metadata } }
}

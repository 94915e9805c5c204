import { z } from 'zod'
import { ChatTool, ResponseFormat } from '../chat-completions.ts'
import { FileId } from '../ids.ts'
import { Metadata, outputTokensMin, TextFormat } from '../responses/request.ts'
import { Tool } from '../responses/tools.ts'
import { GraderModel, ReasoningEffort, tokensOf } from './graders.ts'
import { EvalMessage, GivenMessages } from './messages.ts'

export const itemSchemaBytesMax = 256 * 1024
export const itemSchemaDepthMax = 50
/** Longer data goes into a file. */
export const fileContentRowsMax = 10_000
const storedCompletionsMax = 100_000
const filterPairsMax = 16
const filterBytesMax = 16 * 1024
const namesMax = 100
const nameMax = 256
const searchMax = 1_000
const referenceMax = 512
const toolsMax = 128

const Json = z.record(z.string(), z.unknown())

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((inner) => isDeeperThan(inner, depth - 1))
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

// The second look writes it as JSON, for which there may not be enough stack past the first.
const ItemSchema = Json.refine((schema) => !isDeeperThan(schema, itemSchemaDepthMax), {
  error: `at most ${itemSchemaDepthMax} levels deep`,
  abort: true,
}).refine((schema) => bytesOf(schema) <= itemSchemaBytesMax, `at most ${itemSchemaBytesMax} bytes of JSON`)

/** Stored metadata is text, so nothing else would be found by it. */
const Filter = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .refine(
    (pairs) => Object.keys(pairs).length <= filterPairsMax && bytesOf(pairs) <= filterBytesMax,
    `at most ${filterPairsMax} pairs and ${filterBytesMax} bytes of JSON`,
  )
  .nullish()
const ShownFilter = z.record(z.string(), z.string()).nullish()

export const CreateDataSourceConfig = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('custom'),
    item_schema: ItemSchema,
    include_sample_schema: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('logs'), metadata: Filter }),
  z.strictObject({ type: z.literal('stored_completions'), metadata: Filter }),
])
export type CreateDataSourceConfig = z.infer<typeof CreateDataSourceConfig>

/** `schema` describes what templates may refer to: `item`, and `sample` where there is one. */
export const DataSourceConfig = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('custom'), schema: Json }),
  z.strictObject({ type: z.literal('logs'), schema: Json, metadata: ShownFilter }),
  z.strictObject({ type: z.literal('stored_completions'), schema: Json, metadata: ShownFilter }),
])
export type DataSourceConfig = z.infer<typeof DataSourceConfig>

const FileSource = z.strictObject({ type: z.literal('file_id'), id: FileId })

export const ContentRow = z.strictObject({ item: Json, sample: Json.optional() })
export type ContentRow = z.infer<typeof ContentRow>

const ContentSource = z.strictObject({
  type: z.literal('file_content'),
  content: z.array(ContentRow).min(1).max(fileContentRowsMax),
})

const time = z.int().nonnegative().nullish()
const names = z.array(z.string().max(nameMax)).max(namesMax).nullish()

export const StoredCompletionsSource = z.strictObject({
  type: z.literal('stored_completions'),
  created_after: time,
  created_before: time,
  limit: z.int().min(1).max(storedCompletionsMax).nullish(),
  metadata: Metadata.nullish(),
  model: z.string().max(nameMax).nullish(),
})
export type StoredCompletionsSource = z.infer<typeof StoredCompletionsSource>

export const ResponsesSource = z.strictObject({
  type: z.literal('responses'),
  created_after: time,
  created_before: time,
  instructions_search: z.string().max(searchMax).nullish(),
  metadata: Metadata.nullish(),
  model: z.string().max(nameMax).nullish(),
  reasoning_effort: ReasoningEffort,
  temperature: z.number().nullish(),
  tools: names,
  top_p: z.number().nullish(),
  users: names,
})
export type ResponsesSource = z.infer<typeof ResponsesSource>

const ItemReference = z.strictObject({
  type: z.literal('item_reference'),
  item_reference: z
    .string()
    .max(referenceMax)
    .regex(/^item\./, 'it names a field of the item, such as item.input_trajectory'),
})

const GivenInputMessages = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('template'), template: GivenMessages }),
  ItemReference,
])
export const InputMessages = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('template'), template: z.array(EvalMessage) }),
  ItemReference,
])
export type InputMessages = z.infer<typeof InputMessages>

const samplingFields = {
  seed: z.int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning_effort: ReasoningEffort,
}
const tokens = z.int().min(1).nullish()
const bothSpellings = (bound: typeof tokens) => ({ max_completion_tokens: bound, max_completions_tokens: bound })

/** A run is stored before it samples, and a secret never is. */
const StoredTools = z
  .array(Tool)
  .max(toolsMax)
  .superRefine((tools, { addIssue }) => {
    for (const [at, tool] of tools.entries()) {
      if (tool.type !== 'shell' || tool.environment?.type !== 'container_auto') continue
      const { network_policy: policy } = tool.environment
      if (policy?.type !== 'allowlist' || policy.domain_secrets === undefined) continue
      const path = [at, 'environment', 'network_policy', 'domain_secrets']
      const message = 'domain_secrets are not taken where a request is stored before it runs'
      addIssue({ code: 'custom', params: { fault: 'secrets_not_allowed' }, path, message })
    }
  })

const responsesFields = {
  ...samplingFields,
  text: z.strictObject({ format: TextFormat.optional() }).nullish(),
  tools: StoredTools.nullish(),
}
const completionsFields = {
  ...samplingFields,
  response_format: ResponseFormat.nullish(),
  tools: z.array(ChatTool).max(toolsMax).nullish(),
}

/** Says the bound on tokens in the spelling of the SDK. */
function inOneSpelling<Given extends Parameters<typeof tokensOf>[0]>(given: Given) {
  const { max_completion_tokens: _said, max_completions_tokens: _also, ...rest } = given
  const bound = tokensOf(given)
  return { ...rest, ...(bound === null ? {} : { max_completion_tokens: bound }) }
}

const ResponsesSampling = z.strictObject({ ...responsesFields, max_completion_tokens: tokens })
const CompletionsSampling = z.strictObject({ ...completionsFields, max_completion_tokens: tokens })

/** Messages are there to be sent to a model, and a model needs messages unless the source brings them. */
function askWhole(
  given: { model?: string | undefined; input_messages?: object | undefined; source: { type: string } },
  { addIssue }: { addIssue: (issue: { code: 'custom'; params: object; path: string[]; message: string }) => void },
): void {
  const params = { fault: 'missing_required_parameter' }
  if (given.input_messages !== undefined && given.model === undefined) {
    addIssue({ code: 'custom', params, path: ['model'], message: 'input_messages are sent to a model: name it' })
  }
  const bare = given.source.type === 'file_id' || given.source.type === 'file_content'
  if (bare && given.model !== undefined && given.input_messages === undefined) {
    const message = 'a model is asked with input_messages: say which'
    addIssue({ code: 'custom', params, path: ['input_messages'], message })
  }
}

const jsonl = z.strictObject({
  type: z.literal('jsonl'),
  source: z.discriminatedUnion('type', [FileSource, ContentSource]),
})
const CompletionsSources = z.discriminatedUnion('type', [FileSource, ContentSource, StoredCompletionsSource])
const ResponsesSources = z.discriminatedUnion('type', [FileSource, ContentSource, ResponsesSource])

const asked = { model: GraderModel.optional(), input_messages: GivenInputMessages.optional() }

export const CreateRunDataSource = z.discriminatedUnion('type', [
  jsonl,
  z
    .strictObject({
      type: z.literal('completions'),
      source: CompletionsSources,
      ...asked,
      sampling_params: z
        .strictObject({ ...completionsFields, ...bothSpellings(tokens) })
        .transform(inOneSpelling)
        .nullish(),
    })
    .superRefine(askWhole),
  z
    .strictObject({
      type: z.literal('responses'),
      source: ResponsesSources,
      ...asked,
      sampling_params: z
        .strictObject({ ...responsesFields, ...bothSpellings(z.int().min(outputTokensMin).nullish()) })
        .transform(inOneSpelling)
        .nullish(),
    })
    .superRefine(askWhole),
])
/** Parsed: messages in their one form, one spelling of the bound on tokens. */
export type CreateRunDataSource = z.output<typeof CreateRunDataSource>

const shown = { model: z.string().optional(), input_messages: InputMessages.optional() }

/** What a run says it runs over. */
export const RunDataSource = z.discriminatedUnion('type', [
  jsonl,
  z.strictObject({
    type: z.literal('completions'),
    source: CompletionsSources,
    ...shown,
    sampling_params: CompletionsSampling.nullable(),
  }),
  z.strictObject({
    type: z.literal('responses'),
    source: ResponsesSources,
    ...shown,
    sampling_params: ResponsesSampling.nullable(),
  }),
])
export type RunDataSource = z.infer<typeof RunDataSource>

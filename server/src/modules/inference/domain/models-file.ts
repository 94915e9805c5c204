import { z } from 'zod'
import type { Model, ProviderConfig } from './model.ts'

const modelsMax = 1_000
const aliasesMax = 32

const Name = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]*$/, 'must be letters, digits and . _ : / - only')
const price = z.number().min(0)

const Provider = z.strictObject({
  kind: z.enum(['openai-compatible', 'anthropic']),
  wire: z.enum(['chat_completions', 'responses', 'messages']).optional(),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .refine((url) => !/[@?#]/.test(url), 'must hold no user, query or fragment; keys belong in api_key_env'),
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable, not the key itself')
    .optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

const ModelEntry = z.strictObject({
  id: Name,
  aliases: z.array(Name).max(aliasesMax).default([]),
  provider: Provider,
  provider_model: z.string().min(1).max(256).optional(),
  owned_by: z.string().min(1).max(128).default('organization'),
  created: z.int().min(0).optional(),
  context_window: z.int().min(1),
  max_output_tokens: z.int().min(1),
  family: Name.optional(),
  price: z
    .strictObject({ input_per_mtok: price, cached_input_per_mtok: price.optional(), output_per_mtok: price })
    .default({ input_per_mtok: 0, output_per_mtok: 0 }),
  capabilities: z
    .strictObject({ images: z.boolean(), files: z.boolean(), reasoning: z.boolean() })
    .partial()
    .default({}),
})
type ModelEntry = z.infer<typeof ModelEntry>

const ModelsFile = z.strictObject({ models: z.array(ModelEntry).max(modelsMax) })

const wiresOf = { 'openai-compatible': ['chat_completions', 'responses'], anthropic: ['messages'] } as const

/** The models that a file declares, or everything that is wrong with it. `variable` reads the environment. */
export function readModels(
  content: unknown,
  variable: (name: string) => string | undefined,
): { models: Model[]; problems: string[] } {
  const parsed = ModelsFile.safeParse(content)
  if (!parsed.success) {
    return { models: [], problems: parsed.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`) }
  }
  const problems: string[] = []
  const models = parsed.data.models.map((entry, at) =>
    modelOf(entry, providerOf(entry, `models[${at}].provider`, variable, problems)),
  )
  return { models, problems: [...problems, ...duplicates(models)] }
}

/** A name means one model. */
export function duplicates(models: readonly Model[]): string[] {
  const seen = new Set<string>()
  return models
    .flatMap(({ id, aliases }) => [id, ...aliases])
    .filter((name) => seen.has(name) || !seen.add(name))
    .map((name) => `the name ${name} is given twice; ids and aliases must all differ`)
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1)
}

function providerOf(
  { provider }: ModelEntry,
  path: string,
  variable: (name: string) => string | undefined,
  problems: string[],
): ProviderConfig {
  const { kind, base_url: baseUrl, api_key_env: keyName, headers = {} } = provider
  const wires: readonly string[] = wiresOf[kind]
  const wire = provider.wire ?? wiresOf[kind][0]
  if (!wires.includes(wire)) problems.push(`${path}.wire: ${kind} speaks ${wires.join(' or ')}, not ${wire}`)
  const key = keyName === undefined ? null : (variable(keyName) ?? '')
  if (key === '') problems.push(`${path}.api_key_env: set the environment variable ${keyName} to the provider's key`)
  return { kind, wire, baseUrl, apiKey: key, headers: lowerCased(headers) }
}

/** So that one of the file replaces one of ours, however it is written. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function modelOf(entry: ModelEntry, provider: ProviderConfig): Model {
  const { id, price: given, capabilities } = entry
  return {
    id,
    aliases: entry.aliases,
    createdAt: entry.created ?? dateIn(id),
    ownedBy: entry.owned_by,
    provider,
    providerModel: entry.provider_model ?? id,
    contextWindow: entry.context_window,
    maxOutputTokens: entry.max_output_tokens,
    family: entry.family ?? id,
    price: {
      inputPerMtok: given.input_per_mtok,
      cachedInputPerMtok: given.cached_input_per_mtok ?? given.input_per_mtok,
      outputPerMtok: given.output_per_mtok,
    },
    capabilities: {
      images: capabilities.images ?? false,
      files: capabilities.files ?? false,
      reasoning: capabilities.reasoning ?? false,
    },
  }
}

/** A snapshot is named for its day. */
function dateIn(id: string): number {
  const day = /\d{4}-\d{2}-\d{2}$/.exec(id)
  const ms = day === null ? Number.NaN : Date.parse(`${day[0]}T00:00:00Z`)
  return Number.isNaN(ms) ? 0 : ms / 1000
}

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'

const day = '2026-11-01'

const providers = {
  'double-chat': { kind: 'openai-compatible', wire: 'chat_completions' },
  'double-responses': { kind: 'openai-compatible', wire: 'responses' },
  'double-anthropic': { kind: 'anthropic', wire: 'messages' },
} as const

export type DoubleModel = keyof typeof providers

export const doubleModels = Object.keys(providers) as DoubleModel[]

/** The snapshot that a model of the double is called in replies. */
export const snapshotOf = (model: DoubleModel) => `${model}-${day}`

/** A catalogue of one model for each wire, all answered by one double. Returns the path of the file. */
export async function writeDoubleModels(folder: string, baseUrl: string): Promise<string> {
  const models = Object.entries(providers).map(([name, provider]) => ({
    id: `${name}-${day}`,
    aliases: [name],
    provider: { ...provider, base_url: baseUrl },
    context_window: 128_000,
    max_output_tokens: 16_384,
    family: 'double',
    price: { input_per_mtok: 1, cached_input_per_mtok: 0.1, output_per_mtok: 4 },
    capabilities: { images: true, files: true, reasoning: true },
  }))
  const file = join(folder, 'models.yaml')
  await writeFile(file, stringify({ models }))
  return file
}

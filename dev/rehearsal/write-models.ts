import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const name = 'rehearsal'
const snapshot = `${name}-2026-11-01`

interface ModelsFile {
  readonly models: readonly { readonly id?: unknown; readonly aliases?: unknown }[]
}

/**
 * Writes a models file with the rehearsal model after those of the given one. What cannot be read is left to the server,
 * which says what is wrong with it. Returns the path.
 */
export function writeModels({ dataDir, url, given }: { dataDir: string; url: string; given: string | null }): string {
  const theirs = given === null ? { models: [] } : read(given)
  if (theirs === null) return given ?? ''
  // Theirs come first: complaints count models from the top of their file.
  const models = theirs.models.some(isNamedSo) ? theirs.models : [...theirs.models, rehearsalModel(url)]
  const file = join(dataDir, 'models.yaml')
  writeFileSync(file, stringify({ ...theirs, models }), { mode: 0o600 })
  return file
}

function read(file: string): ModelsFile | null {
  try {
    const content = parse(readFileSync(file, 'utf8')) as Partial<ModelsFile> | null
    return Array.isArray(content?.models) ? (content as ModelsFile) : null
  } catch {
    return null
  }
}

function isNamedSo(model: ModelsFile['models'][number] | null): boolean {
  return [model?.id, ...(Array.isArray(model?.aliases) ? model.aliases : [])].some(
    (one) => one === name || one === snapshot,
  )
}

const rehearsalModel = (url: string) => ({
  id: snapshot,
  aliases: [name],
  provider: { kind: 'openai-compatible', wire: 'chat_completions', base_url: url },
  context_window: 128_000,
  max_output_tokens: 16_384,
  family: name,
  price: { input_per_mtok: 0, cached_input_per_mtok: 0, output_per_mtok: 0 },
  capabilities: { images: true, files: true, reasoning: true },
})

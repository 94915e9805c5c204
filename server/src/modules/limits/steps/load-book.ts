import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { SettingsRefused } from '#platform/config/load.ts'
import { standardBook, type LimitedModel, type LimitsBook } from '../domain/limits-book.ts'
import { readBook } from '../domain/limits-file.ts'

/**
 * Reads the file that the operator names. Startup stops with everything that is wrong with it at once. A command that has
 * no catalogue gives null, and names of models are not checked.
 */
export function loadBook(file: string | null, models: readonly LimitedModel[] | null): LimitsBook {
  if (file === null) return standardBook
  const { book, problems } = readBook(contentOf(file), models)
  if (book === null) throw new SettingsRefused(problems.map((problem) => `SWITCHYARD_LIMITS: ${problem}.`))
  return book
}

function contentOf(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (err) {
    const { code } = err as { code?: string }
    throw new SettingsRefused([
      `SWITCHYARD_LIMITS: the file cannot be read (${code}); name one that this process may read.`,
    ])
  }
  try {
    return parse(text)
  } catch (err) {
    const [first] = (err as Error).message.split('\n')
    throw new SettingsRefused([`SWITCHYARD_LIMITS: the file is not YAML: ${first}`])
  }
}

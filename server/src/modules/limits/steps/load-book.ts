import { SettingsRefused } from '#platform/config/load.ts'
import { readYamlFile } from '#platform/config/yaml-file.ts'
import { standardBook, type LimitedModel, type LimitsBook } from '../domain/limits-book.ts'
import { readBook } from '../domain/limits-file.ts'

/**
 * Reads the file that the operator names. Startup stops with everything that is wrong with it at once. A command that has
 * no catalogue gives null, and names of models are not checked.
 */
export function loadBook(file: string | null, models: readonly LimitedModel[] | null): LimitsBook {
  if (file === null) return standardBook
  const { book, problems } = readBook(readYamlFile('SWITCHYARD_LIMITS', file), models)
  if (book === null) throw new SettingsRefused(problems.map((problem) => `SWITCHYARD_LIMITS: ${problem}.`))
  return book
}

import { SettingsRefused } from '#platform/config/load.ts'
import { readYamlFile } from '#platform/config/yaml-file.ts'
import type { Model } from '../domain/model.ts'
import { Catalogue } from '../domain/catalogue.ts'
import { duplicates, readModels } from '../domain/models-file.ts'

/** The models of the operator's file, and others beside them. */
export function loadCatalogue(
  file: string | null,
  variable: (name: string) => string | undefined,
  extraModels: readonly Model[] = [],
): Catalogue {
  const models = [...loadModels(file, variable), ...extraModels]
  const problems = duplicates(models)
  if (problems.length > 0) throw new SettingsRefused(problems.map((problem) => `SWITCHYARD_MODELS: ${problem}.`))
  return new Catalogue(models)
}

/** Reads the file that the operator names. Startup stops with everything that is wrong with it at once. */
function loadModels(file: string | null, variable: (name: string) => string | undefined): Model[] {
  if (file === null) return []
  const { models, problems } = readModels(readYamlFile('SWITCHYARD_MODELS', file), variable)
  if (problems.length > 0) throw new SettingsRefused(problems.map((problem) => `SWITCHYARD_MODELS: ${problem}.`))
  return models
}

import { Fault } from '#platform/errors/fault.ts'
import type { Model } from './model.ts'

/** The models of this server, found by snapshot or alias. */
export class Catalogue {
  readonly models: readonly Model[]
  readonly #byName = new Map<string, Model>()

  constructor(models: readonly Model[]) {
    this.models = models
    for (const model of models) for (const name of [model.id, ...model.aliases]) this.#byName.set(name, model)
  }

  /** Every name with its model, snapshots before their aliases. */
  names(): [string, Model][] {
    return [...this.#byName]
  }

  find(name: string): Model | null {
    return this.#byName.get(name) ?? null
  }

  get(name: string): Model {
    const model = this.find(name)
    if (model !== null) return model
    throw new Fault(
      'model_not_found',
      'No model of this name is in the catalogue; GET /v1/models lists what there is.',
      {
        param: 'model',
      },
    )
  }
}

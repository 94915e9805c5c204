import type { Limits } from '#modules/limits/index.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Catalogue } from './domain/catalogue.ts'
import type { Model } from './domain/model.ts'
import type { Provider } from './providers/provider.ts'

/** What the routes of this module use. */
export interface RouteUses {
  readonly catalogue: Catalogue
  readonly limits: Pick<Limits, 'recordAlone'>
  readonly log: Log
  providerOf(model: Model): Provider
}

import type { Limits } from '#modules/limits/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Catalogue } from './domain/catalogue.ts'
import type { Model } from './domain/model.ts'
import type { Provider } from './providers/provider.ts'
import type { InferenceTables } from './store/tables.ts'

/** What the routes of this module use. */
export interface RouteUses {
  readonly catalogue: Catalogue
  readonly limits: Pick<Limits, 'recordAlone'>
  readonly db: Db<InferenceTables>
  readonly log: Log
  providerOf(model: Model): Provider
}

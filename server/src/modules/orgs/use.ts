import type { Db } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { KnownScopes } from './domain/scopes.ts'
import type { OrgsTables } from './store/tables.ts'

/** What the parts of this module are built from; each names the few it needs. */
export interface OrgsUse {
  readonly db: Db<OrgsTables>
  readonly cellTag: string
  readonly scopes: KnownScopes
  readonly log: Log
}

import type { Db } from '#platform/db/db.ts'
import type { Outbound } from '#platform/outbound/client.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import type { TargetPolicy } from './steps/target-url.ts'
import type { WebhooksTables } from './store/tables.ts'

/** What the routes of this module use. */
export interface RouteUses {
  readonly db: Db<WebhooksTables>
  readonly sealer: Sealer
  readonly outbound: Outbound
  readonly targets: TargetPolicy
  readonly now: () => Date
  readonly kick: () => void
}

import type { Db } from '#platform/db/db.ts'
import type { Outbound } from '#platform/outbound/client.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { WebhooksTables } from '../store/tables.ts'
import type { DbClock } from './db-clock.ts'
import type { Health } from './health.ts'
import type { OutcomeWriter } from './outcome-writer.ts'

export interface DispatchSettings {
  readonly endpointConcurrency: number
  readonly inFlightMax: number
  /** 1 in production; smaller shrinks the 72-hour schedule. */
  readonly timeScale: number
}

/** What sending needs, in every process that sends. */
export interface DispatchUses {
  readonly db: Db<WebhooksTables>
  readonly log: Log
  readonly outbound: Outbound
  readonly sealer: Sealer
  readonly clock: DbClock
  readonly writer: OutcomeWriter
  readonly health: Health
  readonly settings: DispatchSettings
  /** Bulk sending yields while something urgent is on its way. */
  readonly urgent: { readonly busy: boolean }
}

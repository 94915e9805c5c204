import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Outbound } from '#platform/outbound/client.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { DbClock } from './dispatch/db-clock.ts'
import type { DispatchSettings } from './dispatch/dispatch-uses.ts'
import { Dispatcher } from './dispatch/dispatcher.ts'
import { Health } from './dispatch/health.ts'
import { OutcomeWriter } from './dispatch/outcome-writer.ts'
import { UrgentSender } from './dispatch/urgent-sender.ts'
import { spanMs } from './domain/schedule.ts'
import type { TargetPolicy } from './steps/target-url.ts'
import {
  deleteEndpointRoute,
  pauseEndpointRoute,
  resumeEndpointRoute,
  updateEndpointRoute,
} from './routes/change-endpoint.ts'
import { createEndpointRoute } from './routes/create-endpoint.ts'
import { listDeliveriesRoute, redeliverRoute, retrieveDeliveryRoute } from './routes/deliveries.ts'
import { listEndpointsRoute, listEventTypesRoute, retrieveEndpointRoute } from './routes/read-endpoints.ts'
import { replayRoute } from './routes/replay.ts'
import { retireSecretRoute, rotateSecretRoute } from './routes/secrets.ts'
import { testEndpointRoute } from './routes/test-endpoint.ts'
import { keepPartitions } from './steps/keep-partitions.ts'
import { publish, publisherAlone, type News } from './steps/publish.ts'
import { projectOfEndpoint } from './store/outcomes.ts'
import { discardDeleted, expireOverdue } from './store/overdue.ts'
import type { WebhooksTables } from './store/tables.ts'

export interface WebhooksUses {
  readonly db: Database
  readonly sealer: Sealer
  readonly outbound: Outbound
  readonly log: Log
  readonly targets: TargetPolicy
  readonly dispatch: DispatchSettings
  readonly retentionDays: number
}

export interface Webhooks {
  readonly routes: Route[]
  /** Writes events and their deliveries in the caller's transaction. Returns the events' ids. */
  publish(tx: Tx, ...news: News[]): Promise<string[]>
  /** The same for news that go with no other write: no transaction is needed. Resolves once it is durable. */
  publishAlone(news: News): Promise<void>
  /** For every role: sends what this process commits as urgent. */
  readonly sender: Part
  /** For the role worker: delivers, ends what is overdue, keeps partitions. */
  readonly workers: Part[]
}

const overdueEveryMs = 1_000
const overdueBatch = 1_000
const partitionsEveryMs = 3_600_000

export function createWebhooks(use: WebhooksUses): Webhooks {
  const { db: database, log, sealer, outbound, dispatch: settings } = use
  const db = database.as<WebhooksTables>()
  const clock = new DbClock(database)
  const announceDisabled = async (tx: Tx, endpointId: string, reason: string) => {
    const projectId = await projectOfEndpoint(tx, endpointId)
    await publishNews(tx, {
      projectId: projectId as ProjectId,
      type: 'webhook_endpoint.disabled',
      data: { id: endpointId, reason },
    })
  }
  const health = new Health({ db: database, log, scale: settings.timeScale, announceDisabled })
  const writer = new OutcomeWriter({ db, log, onWritten: (outcomes) => health.note(outcomes) })
  const shared = { db, log, outbound, sealer, clock, writer, health, settings }
  const urgent = new UrgentSender(shared)
  const dispatcher = new Dispatcher({ ...shared, urgent })
  urgent.onCalm = () => dispatcher.pumpAll()
  const kick = () => dispatcher.kick()
  const now = () => clock.now()
  const publishUses = { now, kick, sendUrgent: urgent.push.bind(urgent) }
  const publishNews = (tx: Tx, ...news: News[]) => publish(publishUses, tx, news)
  const routeUses = { db, sealer, outbound, targets: use.targets, now, kick }
  return {
    publish: publishNews,
    publishAlone: publisherAlone({ ...publishUses, db }),
    routes: [
      createEndpointRoute(routeUses),
      listEndpointsRoute(routeUses),
      retrieveEndpointRoute(routeUses),
      updateEndpointRoute(routeUses),
      deleteEndpointRoute(routeUses),
      rotateSecretRoute(routeUses),
      retireSecretRoute(routeUses),
      testEndpointRoute(routeUses),
      pauseEndpointRoute(routeUses),
      resumeEndpointRoute(routeUses),
      listEventTypesRoute(),
      listDeliveriesRoute(routeUses),
      retrieveDeliveryRoute(routeUses),
      redeliverRoute(routeUses),
      replayRoute(routeUses),
    ],
    sender: {
      name: 'webhook sender',
      start: () => clock.look(),
      drain: async () => {
        await urgent.idle()
        await writer.idle()
      },
    },
    workers: [dispatcher.part(), ...sweeps(use, clock)],
  }
}

function sweeps({ db: database, log, dispatch, retentionDays }: WebhooksUses, clock: DbClock): Part[] {
  const db = database.as<WebhooksTables>()
  const common = { db: database.as<PlatformTables>(), log }
  return [
    dueSweep({
      ...common,
      name: 'webhooks.discard',
      everyMs: overdueEveryMs,
      leaseMs: 10 * overdueEveryMs,
      run: () => discardDeleted(db, overdueBatch),
    }),
    dueSweep({
      ...common,
      // Looks at every row that waits, so it looks rarely: a minute in 72 hours.
      name: 'webhooks.overdue',
      everyMs: Math.max(overdueEveryMs, 60_000 * dispatch.timeScale),
      leaseMs: 120_000,
      run: () => expireOverdue(db, spanMs * dispatch.timeScale, overdueBatch),
    }),
    dueSweep({
      ...common,
      name: 'webhooks.partitions',
      everyMs: partitionsEveryMs,
      leaseMs: 2 * partitionsEveryMs,
      roundsMax: 1,
      run: () => keepPartitions(db, clock.now(), retentionDays),
    }),
  ]
}

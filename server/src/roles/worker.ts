import { required } from '#platform/config/load.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { sweepIdempotency } from '#platform/http/idempotency.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Wired } from '../wiring.ts'

const idempotencySweepMs = 60_000
const idempotencyBatch = 1_000

/** Durable handlers, the outbox relay, and sweeps over due times. */
export function workerParts({
  settings,
  log,
  db,
  durable,
  files,
  webhooks,
  containers,
  limits,
  inference,
  responses,
  batches,
  evals,
}: Wired): Part[] {
  const given = required(settings, 'restateAdminUrl', 'restateIdentityKey')
  const platform = db.as<PlatformTables>()
  return [
    ...durable.worker({
      adminUrl: given.restateAdminUrl,
      identityKeys: [given.restateIdentityKey],
      host: settings.workerHost,
      port: settings.workerPort,
      ...(settings.workerUrl === null ? {} : { advertisedUri: settings.workerUrl }),
      drainMs: settings.drainTimeoutMs,
      sweepEveryMs: settings.durableSweepMs,
      handlers: [...responses.handlers, ...batches.handlers, ...evals.handlers],
    }),
    ...files.sweeps,
    ...webhooks.workers,
    ...containers.sweeps(responses.containersInUse),
    ...inference.sweeps,
    ...responses.sweeps,
    ...batches.workers,
    ...evals.workers,
    ...limits.sweeps(responses.inFlight),
    dueSweep({
      name: 'platform.idempotency',
      everyMs: idempotencySweepMs,
      leaseMs: 2 * idempotencySweepMs,
      db: platform,
      log,
      run: () => sweepIdempotency(platform, idempotencyBatch),
    }),
  ]
}

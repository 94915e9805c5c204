import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Files } from '#modules/files/index.ts'
import type { Inference } from '#modules/inference/index.ts'
import type { Limits } from '#modules/limits/index.ts'
import type { Responses } from '#modules/responses/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Durable } from '#platform/durable/durable.ts'
import { keyOfChunk } from '#platform/durable/chunks.ts'
import { bind, type BoundHandler } from '#platform/durable/handler.ts'
import { Lanes } from '#platform/durable/lanes.ts'
import { sweepWaitingChunks } from '#platform/durable/start-chunks.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { finishBatch } from './handlers/finish-batch.ts'
import { runChunk } from './handlers/run-chunk.ts'
import { validateBatch } from './handlers/validate-batch.ts'
import { cancelBatchRoute } from './routes/cancel-batch.ts'
import { createBatchRoute } from './routes/create-batch.ts'
import { listBatchesRoute, retrieveBatchRoute } from './routes/read-batches.ts'
import { runLine } from './steps/run-line.ts'
import type { NextUses } from './steps/start-next.ts'
import { chunks } from './store/chunks.ts'
import { sweepArchived } from './steps/sweep-archived.ts'
import { sweepExpired } from './steps/sweep-expired.ts'
import { clearEnded } from './store/results.ts'
import type { BatchesTables } from './store/tables.ts'

export interface BatchesUses {
  readonly db: Database
  readonly durable: Durable
  readonly log: Log
  readonly metrics: Metrics
  readonly files: Files
  /** Which of these projects are archived. */
  readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]>
  readonly webhooks: Webhooks
  readonly inference: Inference
  readonly limits: Limits
  readonly responses: Responses
  /** Lines that one process works on at once. */
  readonly concurrency: number
  /** Chunks of one project that are under way at once. */
  readonly projectChunksMax: number
  readonly bodyBytesMax: number
}

export interface Batches {
  readonly routes: Route[]
  readonly handlers: BoundHandler[]
  /** Run by the role worker, after its handlers. */
  readonly workers: Part[]
}

const sweepEveryMs = 1_000
const sweepLeaseMs = 5_000
const clearRowsMax = 2_000

export function createBatches(uses: BatchesUses): Batches {
  const { durable, files, log } = uses
  const db = uses.db.as<BatchesTables>()
  const { publish } = uses.webhooks
  const lanes = new Lanes('batch lanes', uses.concurrency)
  uses.metrics.gauge(
    'batch_lines_in_hand_count',
    'Lines of batches that this process works on.',
    [],
    () => lanes.slots.taken,
  )
  const next: NextUses = {
    chunks,
    chunksMax: uses.projectChunksMax,
    submitChunk: (tx, { ownerId, n, generation, at }) =>
      durable.submit(
        tx,
        runChunk,
        keyOfChunk({ ownerId, n, generation }),
        { ownerId, n },
        at === undefined ? {} : { at },
      ),
    submitFinish: (tx, id, generation) => durable.submit(tx, finishBatch, `${id}:${generation}`, id),
  }
  const submitValidation = (tx: Tx, id: string) => durable.submit(tx, validateBatch, `${id}:0`, id)
  const { inference, limits, responses, bodyBytesMax } = uses
  const { findModel } = inference
  const { batchQueueTokens: queueLimit, estimateInput } = limits
  const line = { db, responses, inference, limits }
  const sweep = { everyMs: sweepEveryMs, leaseMs: sweepLeaseMs, db: uses.db.as<PlatformTables>(), log }
  return {
    routes: [
      createBatchRoute({ files, submitValidation }),
      listBatchesRoute({ db }),
      retrieveBatchRoute({ db }),
      cancelBatchRoute({ ...next, db }),
    ],
    handlers: [
      bind(validateBatch, { ...next, db, files, findModel, estimateInput, bodyBytesMax, publish, queueLimit }),
      bind(runChunk, { ...next, db, log, files, lanes, runLine: (call) => runLine(line, call) }),
      bind(finishBatch, { db, files, publish }),
    ],
    workers: [
      lanes.part(),
      dueSweep({ ...sweep, name: 'batches.expiry', run: () => sweepExpired({ ...next, db }) }),
      dueSweep({
        ...sweep,
        name: 'batches.archived',
        run: () => sweepArchived({ ...next, db, archivedOf: uses.archivedOf }),
      }),
      dueSweep({ ...sweep, name: 'batches.waiting', run: () => sweepWaitingChunks({ ...next, db }) }),
      dueSweep({ ...sweep, name: 'batches.clear', run: () => clearEnded(db, clearRowsMax) }),
    ],
  }
}

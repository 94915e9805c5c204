import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Containers } from '#modules/containers/index.ts'
import type { Files } from '#modules/files/index.ts'
import type { Inference } from '#modules/inference/index.ts'
import type { Limits } from '#modules/limits/index.ts'
import type { Responses } from '#modules/responses/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import { keyOfChunk } from '#platform/durable/chunks.ts'
import type { Durable } from '#platform/durable/durable.ts'
import { FairSlots } from '#platform/durable/fair-slots.ts'
import { bind, type BoundHandler } from '#platform/durable/handler.ts'
import { Lanes } from '#platform/durable/lanes.ts'
import { sweepWaitingChunks } from '#platform/durable/start-chunks.ts'
import type { Page } from '#platform/http/pages/page.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { systemClock } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { gradeChunk } from './handlers/grade-chunk.ts'
import { loadRun } from './handlers/load-run.ts'
import { reportPage } from './pages/report-page.ts'
import { rowPage } from './pages/row-page.ts'
import { createEvalRoute } from './routes/create-eval.ts'
import { createRunRoute } from './routes/create-run.ts'
import { deleteEvalRoute } from './routes/delete-eval.ts'
import { cancelRunInPlaceRoute, cancelRunRoute, deleteRunRoute } from './routes/end-runs.ts'
import { listEvalsRoute, retrieveEvalRoute } from './routes/read-evals.ts'
import { listOutputItemsRoute, retrieveOutputItemRoute } from './routes/read-output-items.ts'
import { listRunsRoute, retrieveRunRoute } from './routes/read-runs.ts'
import { runGraderRoute } from './routes/run-grader.ts'
import { updateEvalRoute } from './routes/update-eval.ts'
import { validateGraderRoute } from './routes/validate-grader.ts'
import { endAbandonedRuns } from './steps/end-run.ts'
import { ItemSchemas } from './steps/item-schemas.ts'
import { Patience } from './steps/patience.ts'
import { PythonGraders } from './steps/python-graders.ts'
import { ResultWriter } from './steps/result-writer.ts'
import { RowReader } from './steps/row-reader.ts'
import { startLoads, sweepWaitingLoads, type SubmittedLoad } from './steps/start-loads.ts'
import { TextTurns } from './steps/text-turns.ts'
import { chunks } from './store/chunks.ts'
import { clearDeletedEvals, clearDeletedRun } from './store/lifecycle.ts'
import type { EvalsTables } from './store/tables.ts'

export interface EvalsUses {
  readonly db: Database
  readonly durable: Durable
  readonly log: Log
  readonly metrics: Metrics
  readonly files: Files
  /** Which of these projects are archived. */
  readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]>
  readonly webhooks: Webhooks
  readonly containers: Pick<Containers, 'jobs'>
  readonly inference: Inference
  readonly limits: Limits
  readonly responses: Responses
  /** Where people reach this deployment. */
  readonly publicUrl: string
  /** Rows that one process works on at once. */
  readonly concurrency: number
  /** Chunks of one project that are under way at once. */
  readonly projectChunksMax: number
  readonly rowsMax: number
  readonly patienceMs: number
}

export interface Evals {
  readonly routes: Route[]
  /** What people see of runs. */
  readonly pages: Page[]
  readonly handlers: BoundHandler[]
  /** For every process that grades: of the role api, for the graders API. */
  readonly parts: Part[]
  /** Run by the role worker, after its handlers. */
  readonly workers: Part[]
}

const sweepEveryMs = 1_000
const sweepLeaseMs = 5_000
/** Sources that one process reads at once, and how many more for projects that find all of them to be others'. */
const loadsMax = 4
const loadsReserve = 2
const clearRowsMax = 2_000
const clearEvalsMax = 100

export function createEvals(uses: EvalsUses): Evals {
  const { durable, log, files, inference, limits, responses, publicUrl } = uses
  const db = uses.db.as<EvalsTables>()
  const itemSchemas = new ItemSchemas()
  const python = new PythonGraders({ jobs: uses.containers.jobs, log })
  const lanes = new Lanes('eval lanes', uses.concurrency)
  uses.metrics.gauge(
    'eval_rows_in_hand_count',
    'Rows of eval runs that this process works on.',
    [],
    () => lanes.slots.taken,
  )
  const ends = {
    db,
    publicUrl,
    publish: uses.webhooks.publish,
    chunks,
    chunksMax: uses.projectChunksMax,
    submitChunk: (tx: Tx, { ownerId, n, generation, at }: Submitted) =>
      durable.submit(
        tx,
        gradeChunk,
        keyOfChunk({ ownerId, n, generation }),
        { ownerId, n },
        at === undefined ? {} : { at },
      ),
  }
  const starts = {
    db,
    submitLoad: (tx: Tx, { id, generation, at }: SubmittedLoad) =>
      durable.submit(tx, loadRun, `${id}:${generation}`, id, at === undefined ? {} : { at }),
  }
  const grades = { inference, responses, limits, python, turns: new TextTurns(), log }
  const reader = new RowReader(db)
  const writer = new ResultWriter({ db, limits })
  const sweep = { everyMs: sweepEveryMs, leaseMs: sweepLeaseMs, db: uses.db.as<PlatformTables>(), log }
  return {
    routes: [
      createEvalRoute({ itemSchemas, models: inference }),
      listEvalsRoute({ db }),
      retrieveEvalRoute({ db }),
      updateEvalRoute({ db }),
      deleteEvalRoute({ db }),
      createRunRoute({
        db,
        files,
        models: inference,
        publicUrl,
        startLoads: (tx, projectId) => startLoads(starts, tx, projectId),
      }),
      listRunsRoute(ends),
      retrieveRunRoute(ends),
      cancelRunRoute(ends),
      cancelRunInPlaceRoute(ends),
      deleteRunRoute(ends),
      listOutputItemsRoute({ db }),
      retrieveOutputItemRoute({ db }),
      runGraderRoute(grades),
      validateGraderRoute({ inference }),
    ],
    pages: [reportPage({ db, clock: systemClock }), rowPage({ db, clock: systemClock })],
    handlers: [
      bind(loadRun, {
        ...ends,
        ...starts,
        loads: new FairSlots(loadsMax, loadsReserve),
        files,
        inference,
        responses,
        itemSchemas,
        rowsMax: uses.rowsMax,
      }),
      bind(gradeChunk, { ...ends, ...grades, lanes, reader, writer, patience: new Patience(uses.patienceMs) }),
    ],
    parts: [itemSchemas.part, python.part],
    workers: [
      lanes.part(),
      dueSweep({ ...sweep, name: 'evals.waiting', run: () => sweepWaitingChunks(ends) }),
      dueSweep({ ...sweep, name: 'evals.waiting-loads', run: () => sweepWaitingLoads(starts) }),
      dueSweep({
        ...sweep,
        name: 'evals.abandoned',
        run: () => endAbandonedRuns({ ...ends, archivedOf: uses.archivedOf }),
      }),
      dueSweep({ ...sweep, name: 'evals.clear-runs', run: () => clearDeletedRun(db, clearRowsMax) }),
      dueSweep({ ...sweep, name: 'evals.clear-evals', run: () => clearDeletedEvals(db, clearEvalsMax) }),
    ],
  }
}

type Submitted = { readonly ownerId: string; readonly n: number; readonly generation: number; readonly at?: Date }

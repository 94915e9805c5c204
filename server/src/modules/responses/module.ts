import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import type { ContainerShell } from '#modules/containers/index.ts'
import type { Files } from '#modules/files/index.ts'
import type { Inference } from '#modules/inference/index.ts'
import { turnReservation, type Limits, type OpenResponse } from '#modules/limits/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Valkey } from '#platform/cache/valkey.ts'
import type { Database } from '#platform/db/db.ts'
import { keepDays } from '#platform/db/day-partitions.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Durable } from '#platform/durable/durable.ts'
import { bind, type BoundHandler } from '#platform/durable/handler.ts'
import type { Route } from '#platform/http/route.ts'
import type { SocketRoute } from '#platform/http/websocket.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import { newId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { EventFeed } from './feed/event-feed.ts'
import { EventLog } from './feed/event-log.ts'
import { takeStep } from './handlers/take-step.ts'
import {
  createConversationRoute,
  deleteConversationRoute,
  retrieveConversationRoute,
  updateConversationRoute,
} from './routes/conversations/conversations.ts'
import {
  createConversationItemsRoute,
  deleteConversationItemRoute,
  listConversationItemsRoute,
  retrieveConversationItemRoute,
} from './routes/conversations/items.ts'
import { cancelResponseRoute } from './routes/cancel-response.ts'
import { compactResponseRoute } from './routes/compact-response.ts'
import { countInputTokensRoute } from './routes/count-input-tokens.ts'
import { createResponseRoute } from './routes/create-response.ts'
import { deleteResponseRoute } from './routes/delete-response.ts'
import { listInputItemsRoute } from './routes/list-input-items.ts'
import { retrieveResponseRoute } from './routes/retrieve-response.ts'
import { responsesSockets } from './socket/open-socket.ts'
import { LeftOpen } from './steps/left-open.ts'
import { listLogged, type LoggedResponse } from './steps/list-logged.ts'
import { nodeLease } from './steps/node-lease.ts'
import { answer, type AskedAnswer } from './steps/answer.ts'
import { createContextReader } from './steps/read-context.ts'
import { runLine, type LineOfBatch } from './steps/run-line.ts'
import { sweepArchived } from './steps/sweep-archived.ts'
import { sweepOrphans } from './steps/sweep-orphans.ts'
import { startNextOf, sweepWaiting } from './steps/start-next.ts'
import type { LoggedFilter } from './store/logged.ts'
import { findContainersInUse } from './store/running.ts'
import { findInFlight, listOpen, type OpenRow } from './store/reservations.ts'
import { dayTables } from './store/partitions.ts'
import type { ResponsesTables } from './store/tables.ts'

export interface ResponsesUses {
  readonly db: Database
  readonly valkey: Valkey
  readonly durable: Durable
  readonly sealer: Sealer
  readonly log: Log
  readonly inference: Inference
  readonly limits: Limits
  readonly files: Files
  readonly webhooks: Webhooks
  readonly shell: ContainerShell
  /** In front of names that stacks on shared services must not have in common. */
  readonly prefix: string
  readonly backgroundMax: number
  /** Which of these projects are closed for good. */
  readonly archivedOf: (ids: readonly ProjectId[]) => Promise<ProjectId[]>
  readonly retentionDays: number
  /** Largest event that a socket reads. */
  readonly bodyBytesMax: number
  readonly socketLifetimeMs: number
  readonly socketStallMs: number
}

export interface Responses {
  readonly routes: Route[]
  readonly sockets: SocketRoute[]
  /** For the processes that serve requests. */
  readonly parts: Part[]
  readonly handlers: BoundHandler[]
  /** Run by the role worker. */
  readonly sweeps: Part[]
  /** Which of these containers a response that has not ended refers to. */
  containersInUse(containerIds: readonly string[]): Promise<ReadonlySet<string>>
  /** Carries out a line of a batch. */
  runLine(line: LineOfBatch): Promise<void>
  /** A whole answer of which nothing is stored: keeping it, and what it used, is the caller's. */
  answer(asked: AskedAnswer): Promise<Response>
  /**
   * Stored responses that were completed, oldest first, from after an id on. A page holds no more than `limit`, and fewer
   * where they are large; an empty one is the end.
   */
  listLogged(
    projectId: string,
    filter: LoggedFilter,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<LoggedResponse[]>
  /** Which of these requests made a response that has not ended. */
  inFlight(requestIds: readonly string[]): Promise<ReadonlySet<string>>
  /** What responses of an organisation that have not ended may have reserved. */
  openReservations(orgId: string): Promise<OpenResponse[]>
}

const sweepEveryMs = 2_000
const openMax = 10_000
const sweepLeaseMs = 6_000
const partitionsEveryMs = 3_600_000

export function createResponses(uses: ResponsesUses): Responses {
  const { db: database, log, inference, limits, webhooks, durable, shell, backgroundMax } = uses
  const db = database.as<ResponsesTables>()
  const node = newId('node_')
  const context = createContextReader({ inference, files: uses.files, sealer: uses.sealer })
  const feed = new EventFeed({ db, valkey: uses.valkey, log, prefix: uses.prefix })
  const announce = feed.announce.bind(feed)
  const submitStep = (tx: Tx, { id, step, generation }: { id: string; step: number; generation: number }) =>
    durable.submit(tx, takeStep, `${id}:${generation}`, { id, step })
  const startNext = startNextOf({ submitStep, backgroundMax })
  const publish = webhooks.publish
  const moves = { inference, context, shell, limits }
  const stop = { db, publish, limits, announce, startNext, shell, log }
  const left = new LeftOpen()
  const create = {
    ...moves,
    ...stop,
    publishAlone: webhooks.publishAlone,
    log,
    node,
    feed,
    submitStep,
    backgroundMax,
    left,
  }
  const events = new EventLog({ db, log, announce })
  const { bodyBytesMax, socketLifetimeMs, socketStallMs } = uses
  const sockets = responsesSockets({ ...create, bodyBytesMax, socketLifetimeMs, socketStallMs })
  const sweep = { everyMs: sweepEveryMs, leaseMs: sweepLeaseMs, db: database.as<PlatformTables>(), log }
  return {
    routes: [
      createResponseRoute(create),
      countInputTokensRoute(create),
      compactResponseRoute(create),
      retrieveResponseRoute(create),
      deleteResponseRoute(stop),
      cancelResponseRoute(stop),
      listInputItemsRoute({ db }),
      createConversationRoute({ db, context }),
      retrieveConversationRoute({ db }),
      updateConversationRoute({ db }),
      deleteConversationRoute({ db }),
      createConversationItemsRoute({ db, context }),
      listConversationItemsRoute({ db }),
      retrieveConversationItemRoute({ db }),
      deleteConversationItemRoute({ db }),
    ],
    containersInUse: (ids) => findContainersInUse(db, ids),
    runLine: (line) => runLine(create, line),
    answer: (asked) => answer(create, asked),
    listLogged: (projectId, filter, page) => listLogged({ db, inference }, projectId, filter, page),
    inFlight: (requestIds) => findInFlight(db, requestIds),
    openReservations: async (orgId) => (await listOpen(db, orgId, openMax)).map(openResponse),
    sockets: [sockets.route],
    parts: [nodeLease({ db, log, node, settle: () => left.settle(stop) }), feed.part, sockets.part],
    handlers: [bind(takeStep, { ...moves, ...stop, log, events, submitStep })],
    sweeps: [
      dueSweep({ ...sweep, name: 'responses.orphans', run: () => sweepOrphans(stop) }),
      dueSweep({
        ...sweep,
        name: 'responses.archived',
        run: () => sweepArchived({ ...stop, archivedOf: uses.archivedOf }),
      }),
      dueSweep({
        ...sweep,
        name: 'responses.waiting',
        run: () => sweepWaiting({ ...stop, backgroundMax: uses.backgroundMax }),
      }),
      dueSweep({
        ...sweep,
        name: 'responses.partitions',
        everyMs: partitionsEveryMs,
        leaseMs: 2 * partitionsEveryMs,
        roundsMax: 1,
        run: async () => await keepDays(database, dayTables, await database.now(), uses.retentionDays),
      }),
    ],
  }
}

/** Its first turn, or the one it is at. A foreground response lives and dies with its process. */
function openResponse(row: OpenRow): OpenResponse {
  return {
    reservationId: turnReservation(row.request_id, row.step),
    projectId: row.project_id,
    keyId: row.key_id,
    model: row.model,
    outputMax: row.output_max,
    node: null,
  }
}

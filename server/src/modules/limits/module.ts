import type { OrgId } from '@switchyard/contracts/ids.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Valkey } from '#platform/cache/valkey.ts'
import { keepDays } from '#platform/db/day-partitions.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Gate } from '#platform/http/gate.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { newId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Admission, Charged } from './admission/admission.ts'
import { Admissions, turnReservation } from './admission/admissions.ts'
import { heartbeat } from './admission/heartbeat.ts'
import { LocalBuckets } from './admission/local-buckets.ts'
import { backgroundNode } from './admission/reservation.ts'
import { Settlements } from './admission/settlements.ts'
import { ValkeyBuckets } from './admission/valkey-buckets.ts'
import type { Tokens } from './domain/cost.ts'
import { estimateRequest } from './domain/estimate-request.ts'
import { groupOf, limitsOf, type LimitedModel, type LimitsBook } from './domain/limits-book.ts'
import type { Tier } from './domain/tiers.ts'
import { explainLimitsRoute } from './routes/limits/explain-limits.ts'
import { limitsRoutes } from './routes/routes.ts'
import { createVectorStoreFileBatchRoute, createVectorStoreFileRoute } from './routes/vector-stores/ingest-files.ts'
import { beginBuckets, countBuckets, type OpenResponse } from './steps/begin-buckets.ts'
import { DecisionLog } from './steps/decision-log.ts'
import { evaluateTier, pinTier } from './steps/evaluate-tier.ts'
import { createGate } from './steps/gate.ts'
import { Ledger } from './steps/ledger.ts'
import { Policies } from './steps/policies.ts'
import { recountBuckets } from './steps/recount-buckets.ts'
import { SpendCheck } from './steps/spend-check.ts'
import { sweepReservations } from './steps/sweep-reservations.ts'
import { tierSweep } from './steps/tier-sweep.ts'
import { decisionDays, usageDays } from './store/partitions.ts'
import type { LimitsTables } from './store/tables.ts'
import type { UsageEntry } from './store/usage.ts'

export interface LimitsUses {
  readonly db: Database
  readonly valkey: Valkey
  readonly log: Log
  readonly orgs: Orgs
  readonly publish: Webhooks['publish']
  readonly book: LimitsBook
  readonly models: readonly LimitedModel[]
  /** In front of names that stacks on shared services must not have in common. */
  readonly prefix: string
  readonly settlesTokens: boolean
  readonly withoutValkey: 'local' | 'refuse'
  readonly localShare: number
  readonly decisionDays: number
  readonly usageDays: number
  /** Responses of an organisation that have not ended. */
  readonly openResponses: (orgId: string) => Promise<readonly OpenResponse[]>
}

/** A model call that is about to be made for a request that was let in. */
export interface NextTurn {
  readonly turn: number
  readonly model: string
  readonly inputTokens: number
  readonly outputMax: number | null
}

/** A model call of work that nobody waits for at a socket: a row of an eval run. */
export interface NextWork {
  readonly operation: UsageEntry['operation']
  readonly model: string
  readonly inputTokens: number
  readonly outputMax: number | null
}

export interface Limits {
  readonly routes: Route[]
  readonly gate: Gate
  /** For every role that lets requests in or carries them out. */
  readonly parts: Part[]
  /** Run by the role worker. */
  sweeps(inFlight: (requestIds: readonly string[]) => Promise<ReadonlySet<string>>): Part[]
  /** A request that does not come through the gate: a frame of a socket. Throws the fault of a refusal. */
  admit(charged: Charged, operation: UsageEntry['operation'], body: unknown): Promise<Admission>
  /**
   * A request and its tokens for work that nobody waits for at a socket. Waits in line for them, and throws the fault of
   * a refusal only when that does not help. Each call has a request id of its own; its ledger entry has the same, turn 0.
   */
  admitWork(charged: Charged, work: NextWork, signal: AbortSignal): Promise<Admission>
  /** Tokens of a later model call of a request: waits for them, and throws when waiting does not help. */
  admitTurn(charged: Charged, next: NextTurn, background: boolean, signal: AbortSignal): Promise<void>
  /** What a turn used, when its work is committed. Nothing used: what it reserved is given back. */
  settleTurn(charged: Charged, turn: number, model: string, used: readonly Tokens[]): void
  /** Writes what was used, in the transaction of the work it measures. */
  record(tx: Tx, entries: readonly UsageEntry[]): Promise<void>
  /** The same for work without a transaction. Resolves once it is durable. */
  recordAlone(entry: UsageEntry): Promise<void>
  /** The same for a model call that has one entry, and may have it already: nobody heard. May be asked again and again. */
  recordOnce(entry: UsageEntry): Promise<void>
  /** What was spent outside of admission, by a batch: counts towards the month. */
  spent(charged: Charged, entries: readonly UsageEntry[]): void
  /** Throws `insufficient_quota` when the month's limit is reached. For work that reserves nothing. */
  checkSpend(charged: Charged): Promise<void>
  /** Input tokens of a request, from its characters. */
  estimateInput(body: unknown): number
  /** Input tokens that batches of a limit group may have queued. Null: no limit. */
  batchQueueTokens(
    orgId: string,
    projectId: string,
    model: string,
  ): Promise<{ group: string; organization: number | null; project: number | null }>
  /** Sets the tier of an organisation, or with null leaves it to what it pays. */
  pinTier(orgId: OrgId, tier: Exclude<Tier, 'none'> | null): Promise<void>
}

/** An organisation that may not begin has no limits to keep either. */
function withoutTier(error: unknown): null {
  if (error instanceof Fault) return null
  throw error
}

const sweepEveryMs = 5_000
/** A holder that is killed is replaced after so long: it may have been about to settle what another left. */
const sweepLeaseMs = 8_000
const partitionsEveryMs = 3_600_000

export function createLimits(uses: LimitsUses): Limits {
  const { db: database, log, book, orgs, publish, settlesTokens } = uses
  const db = database.as<LimitsTables>()
  const byName = new Map(uses.models.flatMap((model) => [model.id, ...model.aliases].map((name) => [name, model])))
  const findModel = (name: string) => byName.get(name) ?? null
  const node = newId('lnode_')
  const buckets = new ValkeyBuckets(uses.valkey, uses.prefix)
  const decisions = new DecisionLog({ db, log })
  const ledger = new Ledger(db, findModel)
  const settlements = new Settlements({ buckets, decisions, log, settlesTokens })
  const changed = (orgId: string): void => {
    policies.forget(orgId)
    // What was spent while other limits held may not have been counted: it is counted again from the ledger.
    buckets.doubt(orgId).catch((err: unknown) => log.warn({ err }, 'buckets are not counted again'))
  }
  const tiers = { db, book, orgs, publish, changed }
  const policies = new Policies({
    db,
    book,
    evaluate: async (orgId) => void (await db.tx((tx) => evaluateTier(tiers, tx, orgId as OrgId))),
  })
  const spend = new SpendCheck({ db, policies })
  const policyOf = (orgId: string, projectId: string) => policies.get(orgId, projectId).catch(withoutTier)
  const begin = { db, book, findModel, policyOf, openResponses: uses.openResponses, backgroundNode }
  const alive = heartbeat({ buckets, log, node })
  const admissions = new Admissions({
    book,
    findModel,
    policies,
    buckets,
    local: new LocalBuckets(uses.localShare),
    withoutValkey: uses.withoutValkey,
    begin: (orgId) => beginBuckets(begin, orgId),
    isReserved: (charged, bucket) => spend.isReserved(charged, bucket),
    settlements,
    decisions,
    log,
    node,
  })
  return {
    gate: createGate(admissions),
    routes: [
      ...limitsRoutes({ ...tiers, models: uses.models, now: () => database.now() }),
      explainLimitsRoute({ db, flush: () => decisions.flush() }),
      createVectorStoreFileRoute(),
      createVectorStoreFileBatchRoute(),
    ],
    parts: [alive, decisions.part, settlements.part],
    admit: (charged, operation, body) => admissions.admit({ charged, operation, estimate: estimateRequest(body) }),
    admitWork(charged, { operation, model, inputTokens, outputMax }, signal) {
      const tokens = Math.max(outputMax ?? 0, inputTokens, 1)
      const estimate = { model, background: false, inputTokens, outputMax, tokens }
      return admissions.admitWork({ charged, operation, estimate }, signal)
    },
    async admitTurn(charged, { turn, model, inputTokens, outputMax }, background, signal) {
      const tokens = Math.max(outputMax ?? 0, inputTokens, 1)
      const estimate = { model, background, inputTokens, outputMax, tokens }
      await admissions.admitTurn({ charged, operation: 'responses', estimate, turn }, background, signal)
    },
    settleTurn(charged, turn, model, used) {
      const id = turnReservation(charged.requestId, turn)
      if (used.length === 0) settlements.release(charged, id)
      else settlements.settle(charged, id, findModel(model), used)
    },
    record: (tx, entries) => ledger.record(tx, entries),
    recordAlone: (entry) => ledger.recordAlone(entry),
    recordOnce: (entry) => ledger.recordOnce(entry),
    spent: (charged, entries) => settlements.spent(charged, ledger.costOf(entries)),
    checkSpend: (charged) => spend.check(charged),
    estimateInput: (body) => estimateRequest(body).inputTokens,
    async batchQueueTokens(orgId, projectId, name) {
      const model = findModel(name)
      const policy = await policies.get(orgId, projectId)
      const group = model === null ? name : groupOf(book, model)
      if (policy === null) return { group, organization: null, project: null }
      const { batchQueueTokens } = limitsOf(book, policy.tier, group)
      return { group, organization: batchQueueTokens, project: policy.project[group]?.batchQueueTokens ?? null }
    },
    async pinTier(orgId, tier) {
      await db.tx((tx) => pinTier(tiers, tx, orgId, tier))
      policies.forget(orgId)
    },
    sweeps: (inFlight) => {
      const sweep = { db: database.as<PlatformTables>(), log }
      const lost = { db, buckets, decisions, settlesTokens, inFlight }
      const keep = (name: string, run: (now: Date) => Promise<unknown>) =>
        dueSweep({
          ...sweep,
          name,
          everyMs: partitionsEveryMs,
          leaseMs: 2 * partitionsEveryMs,
          roundsMax: 1,
          run: async () => {
            await run(await database.now())
            return 0
          },
        })
      return [
        dueSweep({
          ...sweep,
          name: 'limits.reservations',
          everyMs: sweepEveryMs,
          leaseMs: sweepLeaseMs,
          roundsMax: 1,
          run: async () => {
            // Valkey was away: whose heartbeat is missing may be alive all the same.
            if (alive.interrupted) return 0
            return await sweepReservations({
              ...lost,
              record: async (entries) => void (await Promise.all(entries.map((entry) => ledger.recordAlone(entry)))),
            })
          },
        }),
        dueSweep({
          ...sweep,
          name: 'limits.recount',
          everyMs: sweepEveryMs,
          leaseMs: 3 * sweepEveryMs,
          roundsMax: 1,
          run: () => recountBuckets({ buckets, count: (orgId) => countBuckets(begin, orgId) }),
        }),
        tierSweep({ ...tiers, database, log }),
        keep('limits.usage-days', (now) => keepDays(database, usageDays, now, uses.usageDays)),
        keep('limits.decision-days', (now) => keepDays(database, decisionDays, now, uses.decisionDays)),
      ]
    },
  }
}

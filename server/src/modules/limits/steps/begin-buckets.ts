import type { Db } from '#platform/db/db.ts'
import { requestOf } from '../admission/admissions.ts'
import type { Beginning } from '../admission/valkey-buckets.ts'
import { bucketsOf, type Bucket, type Policy } from '../domain/buckets.ts'
import { costNanos } from '../domain/cost.ts'
import { groupOf, type LimitedModel, type LimitsBook } from '../domain/limits-book.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { noteOpened } from '../store/standing.ts'
import type { LimitsTables } from '../store/tables.ts'
import { findSpent, listUseOfDay, type DayUse } from '../store/usage.ts'

/** A response that has not ended, and so has something reserved. */
export interface OpenResponse {
  readonly reservationId: string
  readonly projectId: string
  readonly keyId: string
  readonly model: string
  readonly outputMax: number | null
  /** Null: the engine carries it out. */
  readonly node: string | null
}

export interface BeginUses {
  readonly db: Db<LimitsTables>
  readonly book: LimitsBook
  readonly findModel: (name: string) => LimitedModel | null
  /** What holds for a project; null: no limits. */
  readonly policyOf: (orgId: string, projectId: string) => Promise<Policy | null>
  readonly openResponses: (orgId: string) => Promise<readonly OpenResponse[]>
  /** Name for a holder that is gone or unknown. */
  readonly backgroundNode: string
}

/** Buckets of a minute that were asked within this were in use, and are lost if they are not there. */
const recentMs = 120_000
const minuteMs = 60_000
const dayMs = 86_400_000
const useRowsMax = 50_000
const noCosts = { requests: 0, tokens: 0, images: 0, audioMinutes: 0, spendNanos: 0 }

/** What the buckets of an organisation begin with: the ledger has what was used, and open responses what they may use. */
export async function beginBuckets(use: BeginUses, orgId: string): Promise<Beginning> {
  const [lost, counted] = await Promise.all([noteOpened(use.db, orgId, recentMs), countBuckets(use, orgId)])
  return { lost, ...counted }
}

/** The same for buckets that are there: what they should have. */
export async function countBuckets(use: BeginUses, orgId: string): Promise<Omit<Beginning, 'lost'>> {
  const now = new Date()
  const month = monthOf(now)
  const [spent, day, open] = await Promise.all([
    findSpent(use.db, orgId, monthStart(now)),
    listUseOfDay(use.db, orgId, useRowsMax),
    use.openResponses(orgId),
  ])
  const policies = await policiesOf(use, orgId, [
    ...day.map((row) => row.project_id),
    ...open.map(({ projectId }) => projectId),
  ])
  const levels = new Map<string, number>()
  const add = (field: string, amount: number) => levels.set(field, (levels.get(field) ?? 0) + amount)
  for (const { project_id: projectId, nanos } of spent) {
    add(`spend:${month}`, nanos)
    add(`${projectId}:spend:${month}`, nanos)
  }
  for (const one of dayLevels(use, policies, day)) levels.set(one.field, one.level)
  const reserved = open.flatMap((response) => {
    const model = use.findModel(response.model)
    const policy = policies.get(response.projectId) ?? null
    if (model === null || policy === null) return []
    const output = response.outputMax ?? model.maxOutputTokens
    const cost = costNanos(model, { input: 0, cached: 0, output })
    const { projectId, keyId, node } = response
    const asked = { book: use.book, policy, projectId, group: groupOf(use.book, model), long: false, month }
    // A later turn's request is in the ledger already, with its first.
    const requests = response.reservationId === requestOf(response.reservationId) ? 1 : 0
    const costs = { ...noCosts, requests, tokens: response.outputMax ?? 0, spendNanos: cost }
    const buckets = bucketsOf({ ...asked, costs }).filter(({ periodMs }) => periodMs !== minuteMs)
    for (const bucket of buckets) add(bucket.field, bucket.cost)
    const holder = {
      node: node ?? use.backgroundNode,
      projectId,
      keyId,
      operation: 'responses',
      model: encodeURIComponent(model.id),
    }
    return [{ id: response.reservationId, holder, buckets }]
  })
  return { levels: [...levels].map(([field, level]) => ({ field, level })), open: reserved }
}

/** Each project has limits of its own beside those of the organisation. */
async function policiesOf(
  use: BeginUses,
  orgId: string,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, Policy | null>> {
  const policies = new Map<string, Policy | null>()
  for (const projectId of new Set(projectIds)) policies.set(projectId, await use.policyOf(orgId, projectId))
  return policies
}

/** Replays the last day: each bucket fills with what was used and empties itself in between. */
function dayLevels(
  use: BeginUses,
  policies: ReadonlyMap<string, Policy | null>,
  day: readonly DayUse[],
): { field: string; level: number }[] {
  const held = new Map<string, { bucket: Bucket; level: number; agoMs: number }>()
  for (const { project_id: projectId, model: name, ago_ms: agoMs, requests, tokens } of day) {
    const model = use.findModel(name)
    const policy = policies.get(projectId) ?? null
    if (model === null || policy === null) continue
    const asked = { book: use.book, policy, projectId, group: groupOf(use.book, model), long: false, month: '' }
    const buckets = bucketsOf({ ...asked, costs: { ...noCosts, requests, tokens } })
    for (const bucket of buckets.filter(({ periodMs }) => periodMs === dayMs)) {
      const before = held.get(bucket.field)
      const level = before === undefined ? 0 : emptied(before, before.agoMs - agoMs)
      held.set(bucket.field, { bucket, level: level + bucket.cost, agoMs })
    }
  }
  return [...held.values()].map((one) => ({ field: one.bucket.field, level: emptied(one, one.agoMs) }))
}

const emptied = ({ bucket, level }: { bucket: Bucket; level: number }, passedMs: number) =>
  Math.max(0, level - (passedMs * bucket.limit) / bucket.periodMs)

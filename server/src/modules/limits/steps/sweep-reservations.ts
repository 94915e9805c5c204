import type { Db } from '#platform/db/db.ts'
import { requestOf, turnReservation } from '../admission/admissions.ts'
import { backgroundNode, readSettled, type OpenReservation } from '../admission/reservation.ts'
import type { ValkeyBuckets } from '../admission/valkey-buckets.ts'
import type { LimitsTables } from '../store/tables.ts'
import { listUsed, type UsageEntry } from '../store/usage.ts'
import type { DecisionLog } from './decision-log.ts'

export interface SweepUses {
  readonly db: Db<LimitsTables>
  readonly buckets: ValkeyBuckets
  readonly decisions: DecisionLog
  readonly settlesTokens: boolean
  readonly record: (entries: readonly UsageEntry[]) => Promise<void>
  /** Which of these requests a response that has not ended was made by. */
  readonly inFlight: (requestIds: readonly string[]) => Promise<ReadonlySet<string>>
}

/** A reservation that is younger may be about to be settled by whoever made it. */
const ageMsMin = 15_000
/** Whoever wrote the ledger settles right after: only when that has not come is it left to the sweep. */
const settledMsMax = 3_000
const idleMs = 3_600_000
const pagesMax = 1_000

/**
 * Settles what nobody else will: the process that made the reservation is gone, or ended between the commit of the work
 * and its settlement. The ledger has what was used; what it does not have was cut off before anything was committed.
 */
export async function sweepReservations(use: SweepUses): Promise<number> {
  let settled = 0
  let cursor = '0'
  const now = await use.buckets.now()
  for (let page = 0; page < pagesMax; page += 1) {
    const found = await use.buckets.listOrganizations(cursor)
    for (const { orgId, at } of found.noted) {
      const open = await use.buckets.listOpen(orgId)
      if (open.length === 0 && now - at > idleMs) await use.buckets.forgetOrganization(orgId, at)
      settled += await settleLost(use, orgId, open, now)
    }
    cursor = found.cursor
    if (cursor === '0') break
  }
  return settled
}

async function settleLost(
  use: SweepUses,
  orgId: string,
  open: readonly OpenReservation[],
  now: number,
): Promise<number> {
  const nodes = new Map<string, boolean>()
  const left: OpenReservation[] = []
  for (const one of open) {
    if (now - one.since < ageMsMin) continue
    if (one.node !== backgroundNode) {
      if (!nodes.has(one.node)) nodes.set(one.node, await use.buckets.isAlive(one.node))
      if (nodes.get(one.node) === true) continue
    }
    left.push(one)
  }
  if (left.length === 0) return 0
  const requestIds = [...new Set(left.map(({ id }) => requestOf(id)))]
  // In this order: what ends in between is in the ledger that is read after.
  const running = await use.inFlight(requestIds)
  const rows = await listUsed(use.db, orgId, requestIds)
  const used = new Map(rows.map((row) => [turnReservation(row.request_id, row.turn), row]))
  let settled = 0
  for (const one of left) {
    const row = used.get(one.id) ?? null
    // A turn is in the ledger once it is over, whether or not its response goes on.
    if (row === null ? running.has(requestOf(one.id)) : row.ago_ms < settledMsMax) continue
    await settleOne(use, orgId, one, row)
    settled += 1
  }
  return settled
}

async function settleOne(
  use: SweepUses,
  orgId: string,
  one: OpenReservation,
  used: { tokens: number; nanos: number } | null,
): Promise<void> {
  const { id, projectId } = one
  // First the ledger: a process that dies in between leaves the reservation to the next sweep.
  if (used === null && one.node !== backgroundNode && one.model !== '') await use.record([cutOff(orgId, one)])
  const held =
    used === null
      ? await use.buckets.release(orgId, id)
      : await use.buckets.settle(orgId, id, use.settlesTokens ? used.tokens : null, used.nanos)
  if (held === null) return
  const requestId = requestOf(id)
  const detail = {
    reservation: id,
    ...readSettled(held),
    by: 'sweep',
    ...(used === null ? {} : { tokens: used.tokens, cost_nanos: used.nanos }),
  }
  const kind = used === null ? 'released' : 'settled'
  use.decisions.note({ at: new Date(), requestId, orgId, projectId, kind, detail })
}

/** It was let in and its process died: nothing that it said was stored, so nothing is known of its tokens. */
function cutOff(orgId: string, { id, projectId, keyId, operation, model }: OpenReservation): UsageEntry {
  return {
    orgId,
    projectId,
    keyId,
    requestId: requestOf(id),
    turn: Number(id.split('/')[1] ?? 0),
    operation: operation as UsageEntry['operation'],
    model: decodeURIComponent(model),
    batch: false,
    outcome: 'interrupted',
    tokens: { input: 0, cached: 0, output: 0 },
  }
}

import type { Database } from '#platform/db/db.ts'
import { dueSweep, type SweepLease } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { earnedTier } from '../domain/tiers.ts'
import { listPaidStandings, type PaidStanding } from '../store/tier-standings.ts'
import type { LimitsTables } from '../store/tables.ts'
import { evaluateTier, type TierUses } from './evaluate-tier.ts'

export interface TierSweepUses extends TierUses {
  readonly database: Database
  readonly log: Log
}

const everyMs = 3_600_000
const batchMax = 200

/** For the role worker: evaluates every tier again at the start of a month, and once after a start with another file. */
export function tierSweep(use: TierSweepUses): Part {
  const passOn = tierPass(use)
  return dueSweep({
    name: 'limits.tiers',
    everyMs,
    leaseMs: 2 * everyMs,
    db: use.database.as<PlatformTables>(),
    log: use.log,
    run: passOn,
  })
}

/** One batch of the month's pass; 0 when the month is done. */
export function tierPass(use: TierSweepUses): (lease: Pick<SweepLease, 'signal'>) => Promise<number> {
  const db = use.database.as<LimitsTables>()
  let after = ''
  let monthDone: string | null = null
  return async ({ signal }) => {
    const month = (await use.database.now()).toISOString().slice(0, 7)
    if (month === monthDone) return 0
    const batch = await listPaidStandings(db.kysely, after, batchMax)
    for (const { orgId } of batch.filter((one) => mayDiffer(use, one))) {
      if (signal.aborted) return 0
      await db.tx((tx) => evaluateTier(use, tx, orgId))
    }
    after = batch.at(-1)?.orgId ?? ''
    if (batch.length < batchMax) {
      after = ''
      monthDone = month
    }
    return batch.length
  }
}

/** Almost all stand as they did: only the others are locked. Where the region decides, it is asked for. */
function mayDiffer({ book }: TierUses, { tier, paidCents }: PaidStanding): boolean {
  if (book.allowedRegions !== null && paidCents < book.tiers.tier_1.paidCents) return true
  return earnedTier(book.tiers, paidCents, true) !== tier
}

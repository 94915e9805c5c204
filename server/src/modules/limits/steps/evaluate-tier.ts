import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { operator, type Actor, type Orgs } from '#modules/orgs/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { usageTierUpdated } from '../domain/audit-events.ts'
import type { LimitsBook } from '../domain/limits-book.ts'
import { effectiveTier, regionAllowed, startingTier, type Standing } from '../domain/tier-standing.ts'
import { earnedTier, type Tier } from '../domain/tiers.ts'
import { sumPayments } from '../store/payments.ts'
import { holdStanding, saveStanding } from '../store/tier-standings.ts'
import type { LimitsTables } from '../store/tables.ts'

export interface TierUses {
  readonly book: LimitsBook
  readonly orgs: Pick<Orgs, 'findOrganization' | 'listOpenProjects' | 'recordAudit'>
  readonly publish: Webhooks['publish']
  /** Something that admission may have cached is another one now. Called after the commit. */
  readonly changed: (orgId: OrgId) => void
}

/**
 * What payments earn by now. In the transaction of a payment it counts that payment, and no other can pass it by.
 * Without an actor it is the deployment that looks again.
 */
export async function evaluateTier(use: TierUses, tx: Tx, orgId: OrgId, actor: Actor = operator): Promise<Tier> {
  return await changeStanding(use, tx, orgId, actor, ({ pinnedTier }) => pinnedTier)
}

/** The same with another tier set by the operator; null leaves it to payments. */
export async function pinTier(use: TierUses, tx: Tx, orgId: OrgId, pinnedTier: Standing['pinnedTier']): Promise<Tier> {
  return await changeStanding(use, tx, orgId, operator, () => pinnedTier)
}

async function changeStanding(
  use: TierUses,
  tx: Tx,
  orgId: OrgId,
  actor: Actor,
  pinned: (before: Standing) => Standing['pinnedTier'],
): Promise<Tier> {
  const { book } = use
  const region = (await use.orgs.findOrganization(orgId, tx))?.region ?? null
  const before = await holdStanding(tx, orgId, startingTier(book, region))
  const paidCents = await sumPayments(own<LimitsTables>(tx), orgId)
  const after = {
    tier: earnedTier(book.tiers, paidCents, regionAllowed(book, region)),
    pinnedTier: pinned(before),
  }
  if (after.tier === before.tier && after.pinnedTier === before.pinnedTier) return effectiveTier(after)
  await saveStanding(tx, orgId, after)
  const change = { previous_tier: effectiveTier(before), tier: effectiveTier(after) }
  // What payments earn meanwhile under a tier that was set is no change to anyone.
  if (change.tier === change.previous_tier && after.pinnedTier === before.pinnedTier) return change.tier
  await use.orgs.recordAudit(tx, orgId, actor, usageTierUpdated(orgId, change, after.pinnedTier !== null))
  if (change.tier !== change.previous_tier) {
    await announce(use, tx, orgId, change)
    tx.afterCommit(() => use.changed(orgId))
  }
  return change.tier
}

const projectsAtOnce = 1_000
const pagesMax = 1_000

/** Webhook endpoints belong to projects, so every open one is told. */
async function announce(
  use: TierUses,
  tx: Tx,
  orgId: OrgId,
  change: { readonly previous_tier: Tier; readonly tier: Tier },
): Promise<void> {
  let after: ProjectId | undefined
  for (let page = 0; page < pagesMax; page += 1) {
    const projects = await use.orgs.listOpenProjects(tx, orgId, { after, limit: projectsAtOnce })
    const data = { id: orgId, ...change }
    await use.publish(
      tx,
      ...projects.map((projectId) => ({ projectId, type: 'organization.usage_tier.updated' as const, data })),
    )
    if (projects.length < projectsAtOnce) return
    after = projects.at(-1)
  }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrgId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import { publisherWithoutSender } from '#modules/webhooks/index.ts'
import { orgsOnly } from '#modules/orgs/testing/orgs-database.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { standardBook, type LimitsBook } from '../domain/limits-book.ts'
import { tierPass } from './tier-sweep.ts'

const signal = new AbortController().signal
const organizations = 450
const roundsMax = 20

test('a pass over all organisations gives each what its payments earn by the numbers of now, and tells what changed', async (t) => {
  const { database, orgs, orgId } = await orgsOnly(t)
  await sql`insert into orgs.organization (id, name)
    select 'org-' || n, 'One of many' from generate_series(1, ${organizations}::int) n`.execute(database.kysely)
  await sql`insert into limits.organization (org_id, tier, pinned_tier)
    select 'org-' || n, case when n % 2 = 0 then 'tier_1' else 'free' end, case when n = 8 then 'unlimited' end
    from generate_series(1, ${organizations}::int) n
    union all select ${orgId}, 'tier_1', null`.execute(database.kysely)
  await sql`insert into limits.payment (id, org_id, amount_cents, currency, reference)
    select 'pay_' || org_id, org_id, 500, 'usd', 'x' from limits.organization where tier = 'tier_1'`.execute(
    database.kysely,
  )
  const { tiers } = standardBook
  const dearer: LimitsBook = {
    ...standardBook,
    tiers: { ...tiers, tier_1: { ...tiers.tier_1, paidCents: 600 } },
  }
  const changed: OrgId[] = []
  const pass = tierPass({
    database,
    log: createLog({ level: 'silent', pretty: false, name: 'test' }),
    book: dearer,
    orgs,
    publish: publisherWithoutSender(() => new Date()),
    changed: (id) => void changed.push(id),
  })
  const batches: number[] = []
  for (let round = 0; round < roundsMax; round += 1) {
    const done = await pass({ signal })
    if (done === 0) break
    batches.push(done)
  }
  assert.deepEqual(batches, [200, 200, organizations + 1 - 400])
  const { rows } = await sql<{ tier: string; count: number }>`
    select tier, count(*) as count from limits.organization group by tier`.execute(database.kysely)
  assert.deepEqual(rows, [{ tier: 'free', count: organizations + 1 }])
  // One is pinned: for it nothing changed.
  assert.equal(changed.length, organizations / 2)
  const news = await sql<{ body: string }>`select body from webhooks.event`.execute(database.kysely)
  assert.deepEqual(
    news.rows.map(({ body }) => (JSON.parse(body) as { data: unknown }).data),
    [{ id: orgId, previous_tier: 'tier_1', tier: 'free' }],
  )
  const audit = await sql<{ count: number }>`select count(*) as count from orgs.audit_log
    where type = 'usage_tier.updated' and actor_kind = 'operator'`.execute(database.kysely)
  assert.equal(audit.rows[0]?.count, changed.length)
  assert.equal(await pass({ signal }), 0, 'a month is done once')
})

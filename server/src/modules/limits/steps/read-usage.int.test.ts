import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyId, OrgId, UserId } from '@switchyard/contracts/ids.ts'
import { bucketWidths, type BucketWidth } from '@switchyard/contracts/organization/usage-query.ts'
import { sql } from 'kysely'
import { orgsOnly, type OrgsOnly } from '#modules/orgs/testing/orgs-database.ts'
import { newId } from '#platform/std/ids.ts'
import { bucketPage, widthSeconds, type UsageBucket } from '../domain/usage-buckets.ts'
import type { GroupedUsage, GroupField } from '../domain/usage-groups.ts'
import type { LimitsTables } from '../store/tables.ts'
import { sumUsage, usageSums, type SumsAsked } from '../store/usage-sums.ts'
import { insertUsageRows, usageRow, type UsageRow } from '../testing/usage-rows.ts'
import { readUsage, type UsageAsked } from './read-usage.ts'

interface People {
  readonly users: readonly [UserId, UserId]
  readonly keys: readonly [KeyId, KeyId, KeyId, KeyId]
  readonly userOf: ReadonlyMap<string, string>
}

/** One key each of two people, a second one of the first, and one that is nobody's. */
async function newPeople({ orgs, db, orgId, projectId }: OrgsOnly): Promise<People> {
  const users = [newId<UserId>('user-'), newId<UserId>('user-')] as const
  for (const id of users)
    await sql`insert into orgs.user (id, email, name) values (${id}, ${id}, 'x')`.execute(db.kysely)
  const mint = async (userId?: UserId) =>
    (await orgs.mintProjectKey({ orgId, projectId, name: 'k', ...(userId && { userId }) })).keyId
  const keys = [await mint(users[0]), await mint(users[0]), await mint(users[1]), await mint()] as const
  return {
    users,
    keys,
    userOf: new Map([
      [keys[0], users[0]],
      [keys[1], users[0]],
      [keys[2], users[1]],
    ]),
  }
}

const baseMs = Date.parse('2026-11-10T00:00:00Z')
const dayMs = 86_400_000
const projects = ['proj_a', 'proj_b'] as const
const models = ['one', 'two', 'three'] as const
const groupFields: readonly GroupField[] = ['project_id', 'user_id', 'api_key_id', 'model', 'batch']

const tokens = fc.integer({ min: 0, max: 3_000_000_000 })
const rowsOf = (orgId: OrgId, { keys }: People) =>
  fc.array(
    fc.record({
      // To the millisecond, and often just at a boundary.
      atMs: fc.oneof(
        fc.integer({ min: baseMs, max: baseMs + 3 * dayMs }),
        fc
          .integer({ min: 0, max: 72 })
          .chain((hour) => fc.constantFrom(-1, 0, 1).map((off) => baseMs + hour * 3_600_000 + off)),
      ),
      orgId: fc.constantFrom<string>(orgId, orgId, orgId, 'org-other'),
      projectId: fc.constantFrom(...projects),
      keyId: fc.constantFrom(...keys, null),
      model: fc.constantFrom(...models),
      batch: fc.boolean(),
      input: tokens,
      cached: tokens,
      output: tokens,
      costNanos: fc.integer({ min: 0, max: 10_000_000_000_000 }),
    }),
    { maxLength: 40 },
  )

const some = <Value>(values: readonly Value[]) =>
  fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined })

const asksOf = ({ users, keys }: People) =>
  fc.record({
    startS: fc.integer({ min: baseMs / 1_000 - 3_600, max: baseMs / 1_000 + 2 * 86_400 }),
    widths: fc.integer({ min: 1, max: 80 }),
    rest: fc.integer({ min: 0, max: 59 }),
    width: fc.constantFrom(...bucketWidths),
    limit: fc.integer({ min: 5, max: 31 }),
    groupBy: fc.subarray([...groupFields]),
    projectIds: some([...projects, 'proj_none']),
    keyIds: some(keys),
    userIds: some(users),
    models: some(models),
    batch: fc.option(fc.boolean(), { nil: undefined }),
  })

type Sums = Pick<GroupedUsage, 'requests' | 'inputTokens' | 'cachedTokens' | 'outputTokens' | 'costNanos'>
const nothing: Sums = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costNanos: 0 }

/** The same, counted row by row. */
function recount(rows: readonly UsageRow[], bucket: UsageBucket, asked: UsageAsked, userOf: People['userOf']) {
  const sums = new Map<string, Sums>()
  const wanted = <Value>(list: readonly Value[] | undefined, value: Value) => list === undefined || list.includes(value)
  for (const row of rows) {
    const user = row.keyId === null ? null : (userOf.get(row.keyId) ?? null)
    const inBucket = row.atMs >= bucket.start * 1_000 && row.atMs < bucket.end * 1_000
    const asWanted =
      wanted(asked.projectIds, row.projectId) &&
      wanted(asked.models, row.model) &&
      (asked.keyIds === undefined || (row.keyId !== null && asked.keyIds.includes(row.keyId))) &&
      (asked.userIds === undefined || (user !== null && asked.userIds.includes(user))) &&
      wanted(asked.batch === undefined ? undefined : [asked.batch], row.batch)
    if (!inBucket || !asWanted) continue
    const shown = (field: GroupField, value: unknown) => (asked.groupBy.has(field) ? value : null)
    const key = JSON.stringify([
      shown('project_id', row.projectId),
      shown('user_id', user),
      shown('api_key_id', row.keyId),
      shown('model', row.model),
      shown('batch', row.batch),
    ])
    const had = sums.get(key) ?? nothing
    sums.set(key, {
      requests: had.requests + 1,
      inputTokens: had.inputTokens + row.input,
      cachedTokens: had.cachedTokens + row.cached,
      outputTokens: had.outputTokens + row.output,
      costNanos: had.costNanos + row.costNanos,
    })
  }
  return sums
}

const keyed = (used: readonly GroupedUsage[]) =>
  new Map<string, Sums>(
    used.map((one) => [
      JSON.stringify([one.projectId, one.userId, one.apiKeyId, one.model, one.batch]),
      {
        requests: one.requests,
        inputTokens: one.inputTokens,
        cachedTokens: one.cachedTokens,
        outputTokens: one.outputTokens,
        costNanos: one.costNanos,
      },
    ]),
  )

const pagesMax = 20

test('usage, however it is filtered, grouped and paged, is what a recount of the rows gives', async (t) => {
  const only = await orgsOnly(t)
  const people = await newPeople(only)
  const use = { db: only.database.as<LimitsTables>(), orgs: only.orgs }
  const schedule = fc.asyncProperty(rowsOf(only.orgId, people), asksOf(people), async (rows, ask) => {
    await sql`delete from limits.usage`.execute(only.database.kysely)
    await insertUsageRows(only.database, rows)
    const own = rows.filter(({ orgId }) => orgId === only.orgId)
    const seconds = ask.widths * widthSeconds[ask.width] + ask.rest
    const span = { start_time: ask.startS, end_time: ask.startS + seconds, bucket_width: ask.width }
    const { startS: _start, widths: _widths, rest: _rest, limit, groupBy, width, ...filters } = ask
    let page: string | null | undefined
    for (let turned = 0; turned < pagesMax && page !== null; turned += 1) {
      const { buckets, nextPage } = bucketPage({ ...span, page: page ?? undefined }, limit, new Date())
      const asked: UsageAsked = { ...filters, buckets, width, groupBy: new Set(groupBy) }
      const usedIn = await readUsage(use, only.orgId, asked)
      for (const bucket of buckets) {
        assert.deepEqual(keyed(usedIn(bucket.start)), recount(own, bucket, asked, people.userOf))
        assert.equal(keyed(usedIn(bucket.start)).size, usedIn(bucket.start).length)
      }
      page = nextPage
    }
    assert.equal(page, null)
  })
  await fc.assert(schedule, { numRuns: 150 })
})

test('one organisation is summed over its own rows of the span, found by their index', async (t) => {
  const { database } = await orgsOnly(t)
  const row = (index: number): UsageRow =>
    usageRow({ atMs: baseMs + index * 60_000, orgId: `org-${index % 50}`, projectId: 'proj_a' })
  const rows = Array.from({ length: 20_000 }, (_, index) => row(index))
  await insertUsageRows(database, rows)
  await sql`analyze limits.usage`.execute(database.kysely)
  const width: BucketWidth = '1d'
  const from = baseMs / 1_000
  const asked: SumsAsked = {
    from,
    to: from + 86_400,
    widthSeconds: widthSeconds[width],
    groupBy: new Set(['model']),
    rowsMax: 100,
  }
  const [sum] = await sumUsage(database.as<LimitsTables>().kysely, 'org-7' as OrgId, asked)
  assert.equal(sum?.requests, rows.filter(({ orgId, atMs }) => orgId === 'org-7' && atMs < baseMs + dayMs).length)
  const { rows: plan } = await sql<{ 'QUERY PLAN': string }>`
    explain (analyze, costs off, timing off) ${usageSums('org-7' as OrgId, asked)}`.execute(database.kysely)
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  assert.match(text, /Index Cond: \(\(org_id = 'org-7'::text\) AND \(at >= .* AND \(at < /, text)
  assert.doesNotMatch(text, /Seq Scan/, text)
})

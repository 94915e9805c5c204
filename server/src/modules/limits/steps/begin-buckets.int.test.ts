import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { backgroundNode } from '../admission/reservation.ts'
import type { Beginning } from '../admission/valkey-buckets.ts'
import type { Bucket, Policy } from '../domain/buckets.ts'
import { costNanos } from '../domain/cost.ts'
import { standardBook, type LimitsBook } from '../domain/limits-book.ts'
import { monthOf, monthStart } from '../domain/month.ts'
import { bucketsKit, testModel, type BucketsKit } from '../testing/buckets-kit.ts'
import { insertUsageRows, usageRow, type UsageRow } from '../testing/usage-rows.ts'
import { beginBuckets, type OpenResponse } from './begin-buckets.ts'

const hourMs = 3_600_000
const month = monthOf(new Date())
const perDay = { requestsPerDay: 240, tokensPerDay: 24_000 }
const book: LimitsBook = { ...standardBook, families: { ones: { tier_1: perDay } } }
const policy: Policy = { tier: 'tier_1', monthlyNanos: 1e11, projectMonthlyNanos: null, project: {} }
const lowered: Policy = { ...policy, projectMonthlyNanos: 1e10, project: { ones: { requestsPerDay: 120 } } }
const otherProject = 'proj_other'

class Beginnings {
  readonly kit: BucketsKit
  open: readonly OpenResponse[] = []

  constructor(kit: BucketsKit) {
    this.kit = kit
  }

  /** So many rows at once, each of another request, with 100 tokens. */
  async used(count: number, agoMs: number, more: Partial<UsageRow> = {}): Promise<void> {
    const { database, orgId, projectId } = this.kit
    const row = usageRow({ orgId, projectId, atMs: Date.now() - agoMs }, { model: testModel.id, input: 90, output: 10 })
    await insertUsageRows(
      database.as<unknown>(),
      Array.from({ length: count }, () => ({ ...row, ...more })),
    )
  }

  async begin(): Promise<Beginning> {
    const { db, orgId, projectId } = this.kit
    const use = {
      db,
      book,
      findModel: (name: string) => (name === testModel.id ? testModel : null),
      policyOf: async (_org: string, project: string) => (project === projectId ? lowered : policy),
      openResponses: async () => this.open,
      backgroundNode,
    }
    return await beginBuckets(use, orgId)
  }

  /** Says when the buckets were last made. */
  async openedAgo(ms: number): Promise<void> {
    await sql`update limits.organization set opened_at = clock_timestamp() - ${ms} * interval '1 millisecond'
      where org_id = ${this.kit.orgId}`.execute(this.kit.db.kysely)
  }
}

async function begin(t: TestContext): Promise<Beginnings> {
  const kit = await bucketsKit(t)
  await sql`insert into limits.organization (org_id, tier) values (${kit.orgId}, 'tier_1')`.execute(kit.db.kysely)
  return new Beginnings(kit)
}

const levelsOf = ({ levels }: Beginning) => new Map(levels.map(({ field, level }) => [field, level]))

function near(level: number | undefined, wanted: number, field: string): void {
  assert.ok(Math.abs((level ?? Number.NaN) - wanted) < wanted * 0.02 + 0.02, `${field}: ${level}, not about ${wanted}`)
}

test('the buckets of a day begin with what the day has left in them', async (t) => {
  const at = await begin(t)
  const { projectId } = at.kit
  await at.used(100, 25 * hourMs)
  // Of 100 requests, 240 a day take 60 away in six hours; then 20 more, of which an hour takes 10.
  await at.used(100, 7 * hourMs)
  await at.used(20, hourMs)
  const levels = levelsOf(await at.begin())
  near(levels.get('RPD:ones'), 50, 'RPD')
  near(levels.get('TPD:ones'), 5_000, 'TPD')
  // The project may have half as many, so that its bucket empties itself half as fast.
  near(levels.get(`${projectId}:RPD:ones`), 85, 'RPD of the project')
  assert.equal(levels.get(`${projectId}:TPD:ones`), undefined)
})

test('each project begins with its own limits, and what batches used is no part of them', async (t) => {
  const at = await begin(t)
  await at.used(10, 1_000, { projectId: otherProject })
  await at.used(7, 1_000, { batch: true })
  const levels = levelsOf(await at.begin())
  near(levels.get('RPD:ones'), 10, 'RPD')
  assert.equal(levels.get(`${at.kit.projectId}:RPD:ones`), undefined)
  assert.equal(levels.get(`${otherProject}:RPD:ones`), undefined)
})

test('spend begins with what the ledger has of this month, batches and all, to the billionth', async (t) => {
  const at = await begin(t)
  const { projectId } = at.kit
  const sinceMonth = Date.now() - monthStart(new Date()).getTime()
  await at.used(1, sinceMonth + hourMs, { costNanos: 5_000_000 })
  await at.used(1, sinceMonth, { costNanos: 1 })
  await at.used(2, 0, { costNanos: 1_000_000_003, batch: true })
  await at.used(1, 0, { costNanos: 7, projectId: otherProject })
  const levels = levelsOf(await at.begin())
  assert.equal(levels.get(`spend:${month}`), 2_000_000_014)
  assert.equal(levels.get(`${projectId}:spend:${month}`), 2_000_000_007)
  assert.equal(levels.get(`${otherProject}:spend:${month}`), 7)
})

test('responses that have not ended have their spend reserved again, and are settled to what they used', async (t) => {
  const at = await begin(t)
  const { orgId, projectId, buckets } = at.kit
  const response = { projectId, keyId: 'key_1', model: testModel.id, node: null }
  at.open = [
    { ...response, reservationId: 'req_1', outputMax: 1_000 },
    { ...response, reservationId: 'req_2/4', outputMax: null, projectId: otherProject },
    { ...response, reservationId: 'req_3', outputMax: 1, model: 'gone' },
  ]
  const most = costNanos(testModel, { input: 0, cached: 0, output: 1_000 })
  const whole = costNanos(testModel, { input: 0, cached: 0, output: testModel.maxOutputTokens })
  const beginning = await at.begin()
  assert.deepEqual(
    beginning.open.map(({ id, holder }) => [id, holder.node, holder.projectId]),
    [
      ['req_1', backgroundNode, projectId],
      ['req_2/4', backgroundNode, otherProject],
    ],
  )
  await buckets.open(orgId, beginning)
  assert.equal(await at.kit.level(`spend:${month}`), most + whole)
  assert.equal(await at.kit.level(`${projectId}:spend:${month}`), most)
  // The first turn stands for its request; a later one's is in the ledger.
  assert.equal(await at.kit.level('RPD:ones'), 1)
  await buckets.settle(orgId, 'req_1', null, 400)
  await buckets.release(orgId, 'req_2/4')
  assert.equal(await at.kit.level(`spend:${month}`), 400)
  assert.equal(await at.kit.level(`${projectId}:spend:${month}`), 400)
  assert.deepEqual(await buckets.listOpen(orgId), [])
})

const perMinute: Bucket = {
  field: 'RPM:ones',
  level: 'organization',
  metric: 'RPM',
  limit: 10,
  periodMs: 60_000,
  cost: 1,
}

/** Begins, and then asks for all that a minute has. */
async function askAll(at: Beginnings): Promise<{ lost: boolean; admitted: boolean }> {
  const { buckets, orgId, holder } = at.kit
  const beginning = await at.begin()
  await buckets.open(orgId, beginning)
  const verdict = await buckets.admit(orgId, { id: 'req_1', holder: holder() }, [{ ...perMinute, cost: 10 }])
  assert.ok(verdict !== null && verdict !== 'again')
  return { lost: beginning.lost, admitted: verdict.admitted }
}

test('an organisation that is new begins with its full allowance', async (t) => {
  const at = await begin(t)
  assert.deepEqual(await askAll(at), { lost: false, admitted: true })
})

test('one that idled for days begins with its full allowance', async (t) => {
  const at = await begin(t)
  await at.openedAgo(72 * hourMs)
  assert.deepEqual(await askAll(at), { lost: false, admitted: true })
})

test('processes that begin together lose nothing', async (t) => {
  const at = await begin(t)
  await at.begin()
  assert.deepEqual(await askAll(at), { lost: false, admitted: true })
})

test('buckets that were lost begin with nothing left of the minute', async (t) => {
  const at = await begin(t)
  await at.openedAgo(30_000)
  assert.deepEqual(await askAll(at), { lost: true, admitted: false })
})

test('buckets that were made long ago and asked a moment ago were lost too', async (t) => {
  const at = await begin(t)
  const { decisions, orgId, projectId } = at.kit
  await at.openedAgo(72 * hourMs)
  decisions.note({ at: new Date(), requestId: 'req_0', orgId, projectId, kind: 'admitted', detail: {} })
  await decisions.flush()
  assert.deepEqual(await askAll(at), { lost: true, admitted: false })
})

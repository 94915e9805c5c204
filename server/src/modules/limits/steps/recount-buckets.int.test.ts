import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from '../domain/buckets.ts'
import { bucketsKit, type BucketsKit } from '../testing/buckets-kit.ts'
import { recountBuckets } from './recount-buckets.ts'

const day = { level: 'organization', limit: 1_000_000, periodMs: 86_400_000 } as const
const asked: readonly Bucket[] = [
  { ...day, field: 'RPD:ones', metric: 'RPD', cost: 1 },
  { ...day, field: 'spend:2026-11', metric: 'spend', limit: 1e12, periodMs: 0, cost: 9_000 },
]
const holder = { node: 'lnode_x', projectId: 'proj_x', keyId: 'key_x', operation: 'responses', model: 'm' }
const ledger = [
  { field: 'RPD:ones', level: 40 },
  { field: 'spend:2026-11', level: 1_234 },
]

async function levels({ buckets, orgId }: BucketsKit): Promise<number[]> {
  const verdict = await buckets.admit(orgId, { id: `peek-${Math.random()}`, holder }, asked)
  assert(verdict !== null && verdict !== 'again')
  return verdict.before.map(Math.round)
}

async function begun(kit: BucketsKit): Promise<void> {
  await kit.buckets.open(kit.orgId, { lost: false, levels: [{ field: 'spend:2026-11', level: 7 }], open: [] })
  await kit.buckets.noteOrganization(kit.orgId)
}

const recount = ({ buckets }: BucketsKit) =>
  recountBuckets({ buckets, count: async () => ({ levels: ledger, open: [] }) })

test('buckets that were made anew are counted again once nothing is open, and only once', async (t) => {
  const kit = await bucketsKit(t)
  await begun(kit)
  await kit.buckets.admit(kit.orgId, { id: 'req_1', holder }, asked)
  assert.equal(await recount(kit), 0, 'a request is under way')
  await kit.buckets.release(kit.orgId, 'req_1')
  assert.equal(await recount(kit), 1)
  assert.equal(await recount(kit), 0)
  assert.deepEqual(await levels(kit), [40, 1_234])
})

test('what changes while the ledger is read is not counted over', async (t) => {
  const kit = await bucketsKit(t)
  await begun(kit)
  const count = async () => {
    await kit.buckets.spend(kit.orgId, ['spend:2026-11'], 100)
    return { levels: ledger, open: [] }
  }
  assert.equal(await recountBuckets({ buckets: kit.buckets, count }), 0)
  assert.deepEqual(await levels(kit), [0, 107])
})

test('what was spent without a reservation counts, unless the ledger that the buckets were made from had it', async (t) => {
  const kit = await bucketsKit(t)
  await begun(kit)
  const settle = (writtenAgoMs: number) =>
    kit.buckets.settle(kit.orgId, 'req_gone', null, 50, { writtenAgoMs, fields: ['spend:2026-11'] })
  assert.equal(await settle(60_000), null)
  assert.deepEqual(await levels(kit), [0, 7])
  assert.equal(await settle(0), null)
  assert.deepEqual(await levels(kit), [1, 9_057])
  assert.equal(await kit.buckets.settle(kit.orgId, 'req_gone', null, 50), null)
  assert.deepEqual(await levels(kit), [2, 18_057], 'one that may have been settled before counts nothing')
})

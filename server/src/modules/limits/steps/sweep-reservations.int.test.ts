import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { backgroundNode } from '../admission/reservation.ts'
import type { Bucket } from '../domain/buckets.ts'
import { costNanos } from '../domain/cost.ts'
import { monthOf } from '../domain/month.ts'
import { bucketsKit, testModel, type BucketsKit } from '../testing/buckets-kit.ts'
import { sweepReservations } from './sweep-reservations.ts'

const spend = `spend:${monthOf(new Date())}`
const minute = { level: 'organization', limit: 1_000_000, periodMs: 60_000 } as const
const asked: readonly Bucket[] = [
  { ...minute, field: 'RPM:ones', metric: 'RPM', cost: 1 },
  { ...minute, field: 'TPD:ones', metric: 'TPD', periodMs: 86_400_000, cost: 500 },
  { ...minute, field: spend, metric: 'spend', limit: 1e12, periodMs: 0, cost: 9_000_000 },
]
const old = 16_000
const young = 10_000
const usedNanos = costNanos(testModel, { input: 100, cached: 0, output: 10 })

interface Told {
  readonly kind: string
  readonly by: string | null
  readonly tokens: number | null
}

class Sweeping {
  readonly kit: BucketsKit
  readonly running = new Set<string>()
  readonly #settlesTokens: boolean

  constructor(kit: BucketsKit, settlesTokens = false) {
    this.kit = kit
    this.#settlesTokens = settlesTokens
  }

  async sweep(): Promise<number> {
    const { db, buckets, decisions, ledger } = this.kit
    const settled = await sweepReservations({
      db,
      buckets,
      decisions,
      settlesTokens: this.#settlesTokens,
      record: async (entries) => {
        for (const entry of entries) await ledger.recordAlone(entry)
      },
      inFlight: async (ids) => new Set(ids.filter((id) => this.running.has(id))),
    })
    await decisions.flush()
    return settled
  }

  async open(): Promise<string[]> {
    return (await this.kit.buckets.listOpen(this.kit.orgId)).map(({ id }) => id).toSorted()
  }

  async rows() {
    const { rows } = await sql<{ request_id: string; turn: number; outcome: string; tokens: number }>`
      select request_id, turn, outcome, (input_tokens + output_tokens)::int as tokens
      from limits.usage order by id`.execute(this.kit.db.kysely)
    return rows.map((row) => `${row.request_id}/${row.turn} ${row.outcome} ${row.tokens}`)
  }

  async decisions(): Promise<Told[]> {
    const { rows } = await sql<Told>`
      select kind, detail ->> 'by' as by, (detail ->> 'tokens')::int as tokens
      from limits.decision order by id`.execute(this.kit.db.kysely)
    return rows
  }

  /** Writes what a request used, so long ago. */
  async recordedAgo(ms: number, differences: Parameters<BucketsKit['entry']>[0] = {}): Promise<void> {
    await this.kit.ledger.recordAlone(this.kit.entry(differences))
    await sql`update limits.usage set at = at - ${ms} * interval '1 millisecond'`.execute(this.kit.db.kysely)
  }
}

const begin = async (t: TestContext, settlesTokens = false) => new Sweeping(await bucketsKit(t), settlesTokens)

test('what a dead process had reserved is given back, and its call is in the ledger as interrupted', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', 'lnode_dead', asked, old)
  assert.equal(await at.kit.level(spend), 9_000_000)
  assert.equal(await at.sweep(), 1)
  assert.deepEqual(await at.open(), [])
  assert.equal(await at.kit.level(spend), 0)
  assert.ok(((await at.kit.level('TPD:ones')) ?? 1) < 1)
  assert.ok(((await at.kit.level('RPM:ones')) ?? 0) > 0, 'a request is never given back')
  assert.deepEqual(await at.rows(), ['req_1/0 interrupted 0'])
  assert.deepEqual(await at.decisions(), [{ kind: 'released', by: 'sweep', tokens: null }])
  assert.equal(await at.sweep(), 0, 'once')
  assert.equal((await at.rows()).length, 1)
})

test('a later turn of a dead process is recorded as that turn', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1/2', 'lnode_dead', asked, old)
  await at.sweep()
  assert.deepEqual(await at.rows(), ['req_1/2 interrupted 0'])
})

test('what the ledger has is settled to it, by a process that died between the two', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', 'lnode_dead', asked, old)
  await at.recordedAgo(5_000)
  assert.equal(await at.sweep(), 1)
  assert.deepEqual(await at.open(), [])
  assert.equal(await at.kit.level(spend), usedNanos)
  const tokens = (await at.kit.level('TPD:ones')) ?? 0
  assert.ok(tokens > 110 && tokens <= 500, 'the charge of tokens stands')
  assert.deepEqual(await at.rows(), ['req_1/0 completed 110'])
  assert.deepEqual(await at.decisions(), [{ kind: 'settled', by: 'sweep', tokens: 110 }])
})

test('where tokens are settled they are settled by the sweep too', async (t) => {
  const at = await begin(t, true)
  await at.kit.reserve('req_1', 'lnode_dead', asked, old)
  await at.recordedAgo(5_000)
  await at.sweep()
  const tokens = (await at.kit.level('TPD:ones')) ?? 0
  // The bucket drains by 11.6 a second meanwhile; 500 were reserved.
  assert.ok(tokens > 0 && tokens <= 110, `${tokens}`)
})

test('calls that an earlier attempt of the turn lost count as well', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', backgroundNode, asked, old)
  await at.recordedAgo(0, { outcome: 'interrupted' })
  await at.recordedAgo(5_000)
  await at.sweep()
  assert.equal(await at.kit.level(spend), 2 * usedNanos)
})

test('what has just been written is left to whoever wrote it', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', backgroundNode, asked, old)
  await at.recordedAgo(0)
  assert.equal(await at.sweep(), 0)
  assert.deepEqual(await at.open(), ['req_1'])
})

test('a background request without a response is given back, and nothing is recorded: no model was called', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', backgroundNode, asked, old)
  assert.equal(await at.sweep(), 1)
  assert.deepEqual([await at.open(), await at.rows(), await at.kit.level(spend)], [[], [], 0])
})

test('a response that has not ended keeps what its turn reserved, but not what an earlier turn did', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', backgroundNode, asked, old)
  await at.kit.reserve('req_1/2', backgroundNode, asked, old)
  at.running.add('req_1')
  assert.equal(await at.sweep(), 0)
  await at.recordedAgo(5_000)
  assert.equal(await at.sweep(), 1)
  assert.deepEqual(await at.open(), ['req_1/2'])
  assert.equal(await at.kit.level(spend), 9_000_000 + usedNanos)
})

test('a process that is alive keeps its reservations, however old', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', 'lnode_alive', asked, 3_600_000)
  await at.kit.buckets.beat('lnode_alive', 60_000)
  assert.equal(await at.sweep(), 0)
  await at.kit.buckets.endBeat('lnode_alive')
  assert.equal(await at.sweep(), 1)
})

test('a young reservation is left alone, whoever holds it', async (t) => {
  const at = await begin(t)
  await at.kit.reserve('req_1', 'lnode_dead', asked, young)
  await at.kit.reserve('req_2', backgroundNode, asked, young)
  assert.equal(await at.sweep(), 0)
  assert.deepEqual(await at.open(), ['req_1', 'req_2'])
  assert.deepEqual(await at.rows(), [])
})

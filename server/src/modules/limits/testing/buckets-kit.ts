import type { TestContext } from 'node:test'
import { orgsOnly, type OrgsOnly } from '#modules/orgs/testing/orgs-database.ts'
import { createValkey } from '#platform/cache/valkey.ts'
import type { Db } from '#platform/db/db.ts'
import { newId } from '#platform/std/ids.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { backgroundNode, type Holder } from '../admission/reservation.ts'
import { ValkeyBuckets } from '../admission/valkey-buckets.ts'
import type { Bucket } from '../domain/buckets.ts'
import type { LimitedModel } from '../domain/limits-book.ts'
import { DecisionLog } from '../steps/decision-log.ts'
import { Ledger } from '../steps/ledger.ts'
import type { LimitsTables } from '../store/tables.ts'
import type { UsageEntry } from '../store/usage.ts'

export const testModel: LimitedModel = {
  id: 'one-2026-11-01',
  aliases: ['one'],
  family: 'ones',
  contextWindow: 100_000,
  maxOutputTokens: 10_000,
  price: { inputPerMtok: 1, cachedInputPerMtok: 0.5, outputPerMtok: 4 },
}

const testLog = createLog({ level: 'silent', pretty: false, name: 'test' })
/** A busy machine is no reason to go on without Valkey. */
const commandTimeoutMs = 20_000

/** Buckets in Valkey beside a ledger in PostgreSQL, and one organisation that has both. */
export interface BucketsKit extends Omit<OrgsOnly, 'db'> {
  readonly db: Db<LimitsTables>
  readonly buckets: ValkeyBuckets
  readonly decisions: DecisionLog
  readonly ledger: Ledger
  /** An entry of the organisation's, with these differences. */
  entry(differences: Partial<UsageEntry>): UsageEntry
  holder(node?: string): Holder
  /** Reserves in these buckets, so long ago. */
  reserve(id: string, node: string, asked: readonly Bucket[], agoMs: number): Promise<void>
  /** How full a bucket was when it was last asked. Null: there is none. */
  level(field: string): Promise<number | null>
}

export async function bucketsKit(t: TestContext): Promise<BucketsKit> {
  const only = await orgsOnly(t)
  const { database, orgId, projectId } = only
  const valkey = createValkey({ url: process.env['SWITCHYARD_TEST_VALKEY_URL'] ?? '', log: testLog, commandTimeoutMs })
  await valkey.open()
  const prefix = `${newId('test_')}:`
  const hash = `${prefix}limits:{${orgId}}`
  t.after(async () => {
    await valkey.client.del(hash, `${prefix}limits:organizations`)
    await valkey.close()
  })
  const db = database.as<LimitsTables>()
  const buckets = new ValkeyBuckets(valkey, prefix, () => 0)
  const holder = (node = backgroundNode) => ({
    node,
    projectId,
    keyId: 'key_1',
    operation: 'responses',
    model: encodeURIComponent(testModel.id),
  })
  return {
    ...only,
    db,
    buckets,
    decisions: new DecisionLog({ db, log: testLog }),
    ledger: new Ledger(db, (name) => (name === testModel.id ? testModel : null)),
    holder,
    entry: (differences) => ({
      orgId,
      projectId,
      keyId: 'key_1',
      requestId: 'req_1',
      turn: 0,
      operation: 'responses',
      model: testModel.id,
      batch: false,
      outcome: 'completed',
      tokens: { input: 100, cached: 0, output: 10 },
      ...differences,
    }),
    async reserve(id, node, asked, agoMs) {
      const ask = () => buckets.admit(orgId, { id, holder: holder(node) }, asked)
      if ((await ask()) === null) {
        await buckets.open(orgId, { lost: false, levels: [], open: [] })
        await ask()
      }
      await buckets.noteOrganization(orgId)
      // As if time had passed: the first thing that a reservation says is since when it is open.
      const text = (await valkey.client.hget(hash, `o:${id}`)) ?? ''
      const [since = ''] = text.split('|', 1)
      await valkey.client.hset(hash, `o:${id}`, `${Number(since) - agoMs * 1_000}${text.slice(since.length)}`)
    },
    async level(field) {
      const packed = await valkey.client.hgetBuffer(hash, field)
      return packed === null ? null : packed.readDoubleLE(0)
    },
  }
}

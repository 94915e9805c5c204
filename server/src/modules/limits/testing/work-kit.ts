import type { TestContext } from 'node:test'
import { orgsOnly, type OrgsOnly } from '#modules/orgs/testing/orgs-database.ts'
import { createValkey, type Valkey } from '#platform/cache/valkey.ts'
import { newId, newRequestId } from '#platform/std/ids.ts'
import { createLog, type Log } from '#platform/telemetry/log.ts'
import type { Charged } from '../admission/admission.ts'
import { ValkeyBuckets } from '../admission/valkey-buckets.ts'
import { standardBook, type LimitsBook } from '../domain/limits-book.ts'
import { createLimits, type Limits, type LimitsUses } from '../module.ts'
import { testModel } from './buckets-kit.ts'

type GroupLimits = LimitsBook['tiers']['tier_1']['limits']

const testLog = createLog({ level: 'silent', pretty: false, name: 'test' })
/** A busy machine is no reason to go on without Valkey. */
const commandTimeoutMs = 20_000
const unlimited = { requestsPerMinute: 1e6, requestsPerDay: null, tokensPerMinute: null, tokensPerDay: null }

/** Limits as processes of their own have them: one organisation, one Valkey, and how often it was asked. */
export interface WorkKit extends OrgsOnly {
  readonly valkey: Valkey
  readonly log: Log
  readonly buckets: ValkeyBuckets
  /** The hash of the organisation. */
  readonly hash: string
  readonly asks: () => number
  /** Another process. */
  limits(differences?: Partial<LimitsUses>): Limits
  /** With a request id of its own. */
  charged(): Charged
}

export async function workKit(t: TestContext, limits: Partial<GroupLimits>): Promise<WorkKit> {
  const only = await orgsOnly(t)
  const { database, orgs, orgId, projectId } = only
  const valkey = createValkey({ url: process.env['SWITCHYARD_TEST_VALKEY_URL'] ?? '', log: testLog, commandTimeoutMs })
  await valkey.open()
  const prefix = `${newId('test_')}:`
  const hash = `${prefix}limits:{${orgId}}`
  t.after(async () => {
    await valkey.client.del(hash, `${prefix}limits:organizations`)
    await valkey.close()
  })
  let asks = 0
  const script: Valkey['script'] = (name, lua, reply) => {
    const run = valkey.script(name, lua, reply)
    return (keys, args) => {
      if (name === 'limits.admit') asks += 1
      return run(keys, args)
    }
  }
  const counted = { client: valkey.client, call: valkey.call, script } as unknown as Valkey
  const { tier_1: standard } = standardBook.tiers
  const tier1 = { ...standard, limits: { ...standard.limits, ...unlimited, ...limits } }
  const another = (differences: Partial<LimitsUses> = {}) =>
    createLimits({
      db: database,
      valkey: counted,
      log: testLog,
      orgs,
      publish: async () => undefined,
      book: { ...standardBook, tiers: { ...standardBook.tiers, tier_1: tier1 } },
      models: [testModel],
      prefix,
      settlesTokens: false,
      withoutValkey: 'refuse',
      localShare: 1,
      decisionDays: 7,
      usageDays: 7,
      openResponses: async () => [],
      ...differences,
    } as LimitsUses)
  await another().pinTier(orgId, 'tier_1')
  return {
    ...only,
    valkey,
    log: testLog,
    hash,
    buckets: new ValkeyBuckets(valkey, prefix),
    asks: () => asks,
    limits: another,
    charged: () => ({ orgId, projectId, keyId: 'key_1', requestId: newRequestId() }),
  }
}

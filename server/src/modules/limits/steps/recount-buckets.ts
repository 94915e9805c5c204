import type { Beginning, ValkeyBuckets } from '../admission/valkey-buckets.ts'

export interface RecountUses {
  readonly buckets: ValkeyBuckets
  /** Days and spend of an organisation as the ledger and its open responses have them. */
  readonly count: (orgId: string) => Promise<Omit<Beginning, 'lost'>>
}

const pagesMax = 1_000

/**
 * After Valkey was away or had lost its content, a request that ended just then may have been counted twice or not at all.
 * Once nothing of an organisation is under way, the ledger has the truth, to the request and to the billionth.
 */
export async function recountBuckets({ buckets, count }: RecountUses): Promise<number> {
  let recounted = 0
  let cursor = '0'
  for (let page = 0; page < pagesMax; page += 1) {
    const found = await buckets.listOrganizations(cursor)
    for (const { orgId } of found.noted) {
      if (!(await buckets.isInDoubt(orgId))) continue
      const readAtMs = await buckets.now()
      const { levels, open } = await count(orgId)
      if (open.length === 0 && (await buckets.recount(orgId, levels, readAtMs))) recounted += 1
    }
    cursor = found.cursor
    if (cursor === '0') break
  }
  return recounted
}

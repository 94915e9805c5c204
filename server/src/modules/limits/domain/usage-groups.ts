/** What usage can be grouped by. The last two are the same for all usage here. */
export type GroupField = 'project_id' | 'user_id' | 'api_key_id' | 'model' | 'batch' | 'service_tier' | 'api_source'

/** What was used in one bucket, of one project, key, model and kind; null where the sum is over all of them. */
export interface UsageSum {
  readonly bucket: number
  readonly projectId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly batch: boolean | null
  readonly requests: number
  readonly inputTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly costNanos: number
}

export interface GroupedUsage extends Omit<UsageSum, 'keyId'> {
  readonly apiKeyId: string | null
  readonly userId: string | null
  readonly serviceTier: string | null
  readonly apiSource: 'unlabeled' | null
}

/** Sums over keys become sums over the people behind them; a key of nobody counts under no user. */
export function groupUsage(
  sums: readonly UsageSum[],
  groupBy: ReadonlySet<GroupField>,
  userOf: (keyId: string) => string | null,
): GroupedUsage[] {
  const merged = new Map<string, GroupedUsage>()
  for (const { keyId, ...sum } of sums) {
    const one: GroupedUsage = {
      ...sum,
      apiKeyId: groupBy.has('api_key_id') ? keyId : null,
      userId: groupBy.has('user_id') && keyId !== null ? userOf(keyId) : null,
      serviceTier: groupBy.has('service_tier') ? 'default' : null,
      apiSource: groupBy.has('api_source') ? 'unlabeled' : null,
    }
    const key = JSON.stringify([one.bucket, one.projectId, one.apiKeyId, one.userId, one.model, one.batch])
    const other = merged.get(key)
    merged.set(key, other === undefined ? one : added(one, other))
  }
  return [...merged.values()]
}

const added = (one: GroupedUsage, other: GroupedUsage): GroupedUsage => ({
  ...one,
  requests: one.requests + other.requests,
  inputTokens: one.inputTokens + other.inputTokens,
  cachedTokens: one.cachedTokens + other.cachedTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costNanos: one.costNanos + other.costNanos,
})

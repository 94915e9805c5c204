import type { KeyId, OrgId, UserId } from '@switchyard/contracts/ids.ts'
import type { BucketWidth } from '@switchyard/contracts/organization/usage-query.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { alignedStart, widthSeconds, type UsageBucket } from '../domain/usage-buckets.ts'
import { groupUsage, type GroupedUsage, type GroupField, type UsageSum } from '../domain/usage-groups.ts'
import type { LimitsTables } from '../store/tables.ts'
import { sumUsage, type UsageColumn } from '../store/usage-sums.ts'

export interface ReadUsageUses {
  readonly db: Db<LimitsTables>
  readonly orgs: Pick<Orgs, 'keyUsers' | 'keysOfUsers'>
}

export interface UsageAsked {
  readonly buckets: readonly UsageBucket[]
  readonly width: BucketWidth
  readonly groupBy: ReadonlySet<GroupField>
  readonly projectIds?: readonly string[] | undefined
  readonly keyIds?: readonly string[] | undefined
  readonly userIds?: readonly string[] | undefined
  readonly models?: readonly string[] | undefined
  readonly batch?: boolean | undefined
}

const sumsMax = 50_000

/** What each bucket has, by the second it starts at. */
export async function readUsage(
  use: ReadUsageUses,
  orgId: OrgId,
  asked: UsageAsked,
): Promise<(start: number) => GroupedUsage[]> {
  const sums = await readSums(use, orgId, asked)
  const users = asked.groupBy.has('user_id') ? await usersOf(use, orgId, sums) : new Map<string, string>()
  const grouped = groupUsage(sums, asked.groupBy, (keyId) => users.get(keyId) ?? null)
  const byBucket = Map.groupBy(grouped, ({ bucket }) => bucket)
  return (start) => byBucket.get(alignedStart(start, asked.width)) ?? []
}

async function readSums(use: ReadUsageUses, orgId: OrgId, asked: UsageAsked): Promise<UsageSum[]> {
  const { buckets, width, projectIds, models, batch } = asked
  const [first] = buckets
  const last = buckets.at(-1)
  const keyIds = await keysAsked(use, orgId, asked)
  if (first === undefined || last === undefined || keyIds?.length === 0) return []
  const sums = await sumUsage(use.db.kysely, orgId, {
    from: first.start,
    to: last.end,
    widthSeconds: widthSeconds[width],
    groupBy: columnsOf(asked.groupBy),
    projectIds,
    keyIds,
    models,
    batch,
    rowsMax: sumsMax + 1,
  })
  if (sums.length <= sumsMax) return sums
  const said = `More than ${sumsMax} results: ask for fewer buckets, or group by less.`
  throw new Fault('invalid_value', said, { param: 'group_by' })
}

/** Usage knows keys; the organisation knows whose they are. */
async function keysAsked(use: ReadUsageUses, orgId: OrgId, { keyIds, userIds }: UsageAsked) {
  if (userIds === undefined) return keyIds
  const theirs = await use.orgs.keysOfUsers(orgId, userIds as UserId[])
  return keyIds === undefined ? theirs : theirs.filter((id) => keyIds.includes(id))
}

async function usersOf(use: ReadUsageUses, orgId: OrgId, sums: readonly UsageSum[]) {
  const keyIds = new Set(sums.flatMap(({ keyId }) => (keyId === null ? [] : [keyId as KeyId])))
  return (await use.orgs.keyUsers(orgId, [...keyIds])) as ReadonlyMap<string, string>
}

function columnsOf(groupBy: ReadonlySet<GroupField>): Set<UsageColumn> {
  const columns = new Set<UsageColumn>()
  if (groupBy.has('project_id')) columns.add('project_id')
  if (groupBy.has('api_key_id') || groupBy.has('user_id')) columns.add('key_id')
  if (groupBy.has('model')) columns.add('model')
  if (groupBy.has('batch')) columns.add('batch')
  return columns
}

import type { OrgId } from '@switchyard/contracts/ids.ts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { firstIdAt } from '#platform/std/ids.ts'
import type { UsageSum } from '../domain/usage-groups.ts'
import type { LimitsTables } from './tables.ts'
import { usagePrefix } from './usage.ts'

const groupColumns = ['project_id', 'key_id', 'model', 'batch'] as const
export type UsageColumn = (typeof groupColumns)[number]

export interface SumsAsked {
  /** Seconds since the epoch; the end is exclusive. */
  readonly from: number
  readonly to: number
  readonly widthSeconds: number
  readonly groupBy: ReadonlySet<UsageColumn>
  readonly projectIds?: readonly string[] | undefined
  readonly keyIds?: readonly string[] | undefined
  readonly models?: readonly string[] | undefined
  readonly batch?: boolean | undefined
  readonly rowsMax: number
}

/** Rows and ids get their time from two clocks, which no deployment lets drift so far. */
const clocksApartMs = 86_400_000

const second = (at: number) => sql`to_timestamp(${at}::float8)`

function conditions(orgId: OrgId, asked: SumsAsked): RawBuilder<unknown>[] {
  const { projectIds, keyIds, models, batch } = asked
  const all = [
    sql`org_id = ${orgId}`,
    sql`at >= ${second(asked.from)}`,
    sql`at < ${second(asked.to)}`,
    // Says which partitions there can be rows in.
    sql`id >= ${firstIdAt(usagePrefix, Math.max(0, asked.from * 1_000 - clocksApartMs))}`,
    sql`id < ${firstIdAt(usagePrefix, asked.to * 1_000 + clocksApartMs)}`,
  ]
  if (projectIds !== undefined) all.push(sql`project_id = any(${[...projectIds]}::text[])`)
  if (keyIds !== undefined) all.push(sql`key_id = any(${[...keyIds]}::text[])`)
  if (models !== undefined) all.push(sql`model = any(${[...models]}::text[])`)
  if (batch !== undefined) all.push(sql`batch = ${batch}`)
  return all
}

interface SumRow {
  bucket: number
  project_id: string | null
  key_id: string | null
  model: string | null
  batch: boolean | null
  requests: number
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  cost_nanos: number
}

/** Reads the organisation's rows of the span by their index, and nothing else. */
export function usageSums(orgId: OrgId, asked: SumsAsked): RawBuilder<SumRow> {
  const { widthSeconds: width, groupBy } = asked
  const bucket = sql`floor(extract(epoch from at) / ${sql.lit(width)}) * ${sql.lit(width)}`
  const shown = groupColumns.map((column) => (groupBy.has(column) ? sql.ref(column) : sql`null as ${sql.ref(column)}`))
  const grouped = [bucket, ...groupColumns.filter((column) => groupBy.has(column)).map((column) => sql.ref(column))]
  return sql<SumRow>`
    select ${bucket} as bucket, ${sql.join(shown)}, count(*) as requests, sum(input_tokens) as input_tokens,
      sum(cached_tokens) as cached_tokens, sum(output_tokens) as output_tokens, sum(cost_nanos) as cost_nanos
    from limits.usage
    where ${sql.join(conditions(orgId, asked), sql` and `)}
    group by ${sql.join(grouped)}
    order by 1, 2, 3, 4, 5
    limit ${asked.rowsMax}`
}

/** What an organisation used in a span, by bucket and group. */
export async function sumUsage(limits: Kysely<LimitsTables>, orgId: OrgId, asked: SumsAsked): Promise<UsageSum[]> {
  const { rows } = await usageSums(orgId, asked).execute(limits)
  return rows.map((row) => ({
    bucket: row.bucket,
    projectId: row.project_id,
    keyId: row.key_id,
    model: row.model,
    batch: row.batch,
    requests: row.requests,
    inputTokens: row.input_tokens,
    cachedTokens: row.cached_tokens,
    outputTokens: row.output_tokens,
    costNanos: row.cost_nanos,
  }))
}

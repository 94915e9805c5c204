import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { GroupLimits, Tier } from '../domain/tiers.ts'
import type { LimitsTables } from './tables.ts'

interface ProjectLimitJson {
  readonly limit_group: string
  readonly requests_per_minute: number | null
  readonly requests_per_day: number | null
  readonly tokens_per_minute: number | null
  readonly tokens_per_day: number | null
  readonly images_per_minute: number | null
  readonly audio_minutes_per_minute: number | null
  readonly batch_queue_tokens: number | null
}

export interface Standing {
  readonly tier: Tier
  /** Monthly limits that were set beside the tier's, in cents. */
  readonly organizationCents: number | null
  readonly projectCents: number | null
  readonly project: Readonly<Record<string, Partial<GroupLimits>>>
}

interface StandingRow {
  tier: Tier
  organization_cents: number | null
  project_cents: number | null
  project: ProjectLimitJson[] | null
}

const standing = statement<[string, string], StandingRow>(
  'limits.standing',
  `select coalesce(o.pinned_tier, o.tier) as tier,
     (select threshold_cents from limits.spend_limit where org_id = $1 and project_id = '') as organization_cents,
     (select threshold_cents from limits.spend_limit where org_id = $1 and project_id = $2) as project_cents,
     (select json_agg(l) from limits.project_limit l where l.project_id = $2 and l.org_id = $1) as project
   from limits.organization o where o.org_id = $1`,
)

/** Null: nothing is known of the organisation yet. */
export async function findStanding(db: Db<LimitsTables>, orgId: string, projectId: string): Promise<Standing | null> {
  const [row] = await db.run(standing, [orgId, projectId])
  if (row === undefined) return null
  return {
    tier: row.tier,
    organizationCents: row.organization_cents,
    projectCents: row.project_cents,
    project: Object.fromEntries((row.project ?? []).map((limit) => [limit.limit_group, lower(limit)])),
  }
}

/** Only what the project has lowered. */
function lower(row: ProjectLimitJson): Partial<GroupLimits> {
  const limits = {
    requestsPerMinute: row.requests_per_minute,
    requestsPerDay: row.requests_per_day,
    tokensPerMinute: row.tokens_per_minute,
    tokensPerDay: row.tokens_per_day,
    imagesPerMinute: row.images_per_minute,
    audioMinutesPerMinute: row.audio_minutes_per_minute,
    batchQueueTokens: row.batch_queue_tokens,
  }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null))
}

/** Whoever comes just after another finds no buckets yet either. That is one beginning, and nothing was lost. */
const togetherMs = 5_000

const opened = statement<[string, number, number], { lost: boolean }>(
  'limits.opened',
  `with was as (
     select org_id, opened_at from limits.organization where org_id = $1 for update
   ), now_open as (
     update limits.organization o set opened_at = clock_timestamp() from was where o.org_id = was.org_id
   )
   select opened_at is not null and (
     opened_at > clock_timestamp() - $2 * interval '1 millisecond'
       and opened_at < clock_timestamp() - $3 * interval '1 millisecond'
     or exists (select 1 from limits.decision d
       where d.org_id = $1 and d.at > clock_timestamp() - $2 * interval '1 millisecond')
   ) as lost from was`,
)

/** Notes that the buckets are made anew. True: they were in use until just now, so they were lost. */
export async function noteOpened(db: Db<LimitsTables>, orgId: string, recentMs: number): Promise<boolean> {
  const [row] = await db.run(opened, [orgId, recentMs, togetherMs])
  return row?.lost ?? false
}

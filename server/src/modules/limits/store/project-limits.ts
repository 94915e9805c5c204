import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql, type Kysely } from 'kysely'
import { own, type Tx } from '#platform/db/tx.ts'
import type { GroupLimits } from '../domain/tiers.ts'
import type { LimitsTables } from './tables.ts'

const columnOf = {
  requestsPerMinute: 'requests_per_minute',
  requestsPerDay: 'requests_per_day',
  tokensPerMinute: 'tokens_per_minute',
  tokensPerDay: 'tokens_per_day',
  imagesPerMinute: 'images_per_minute',
  audioMinutesPerMinute: 'audio_minutes_per_minute',
  batchQueueTokens: 'batch_queue_tokens',
} as const satisfies Record<keyof GroupLimits, keyof LimitsTables['limits.project_limit']>

const columns = Object.values(columnOf)

type Row = Record<(typeof columns)[number], number | null>

const limitsOfRow = (row: Row) =>
  Object.fromEntries(Object.entries(columnOf).map(([name, column]) => [name, row[column]])) as unknown as GroupLimits

/** What a project has set, by limit group; null is not set. */
export async function findProjectLimits(
  limits: Kysely<LimitsTables>,
  projectId: ProjectId,
): Promise<Map<string, GroupLimits>> {
  const rows = await limits
    .selectFrom('limits.project_limit')
    .select(['limit_group', ...columns])
    .where('project_id', '=', projectId)
    .execute()
  return new Map(rows.map((row) => [row.limit_group, limitsOfRow(row)]))
}

/** The same of one group, which nobody else changes until the commit. */
export async function holdProjectLimit(tx: Tx, projectId: ProjectId, group: string): Promise<Partial<GroupLimits>> {
  const row = await own<LimitsTables>(tx)
    .selectFrom('limits.project_limit')
    .select(columns)
    .where('project_id', '=', projectId)
    .where('limit_group', '=', group)
    .forUpdate()
    .executeTakeFirst()
  return row === undefined ? {} : limitsOfRow(row)
}

/** Sets what is given and leaves the rest. */
export async function saveProjectLimit(
  limits: Kysely<LimitsTables>,
  at: { readonly orgId: OrgId; readonly projectId: ProjectId; readonly group: string },
  changes: Partial<GroupLimits>,
): Promise<GroupLimits> {
  const given = Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [columnOf[name as keyof GroupLimits], value]),
  ) as Partial<Row>
  const none = Object.fromEntries(columns.map((column) => [column, null])) as Row
  const row = await limits
    .insertInto('limits.project_limit')
    .values({ project_id: at.projectId, limit_group: at.group, org_id: at.orgId, ...none, ...given })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'limit_group'])
        .doUpdateSet({ ...given, updated_at: sql<Date>`clock_timestamp()` }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow()
  return limitsOfRow(row)
}

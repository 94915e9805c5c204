import { CompiledQuery } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { firstIdAt, newId } from '#platform/std/ids.ts'
import type { Tokens } from '../domain/cost.ts'
import type { LimitsTables } from './tables.ts'

/** What one model call used, and whom it is charged to. */
export interface UsageEntry {
  readonly orgId: string
  readonly projectId: string
  readonly keyId: string | null
  readonly requestId: string
  /** Which model call of the request. */
  readonly turn: number
  readonly operation: 'responses' | 'chat_completions' | 'completions'
  /** The snapshot. */
  readonly model: string
  readonly batch: boolean
  /** `interrupted`: cut off; its tokens are counted from what it had said. */
  readonly outcome: 'completed' | 'interrupted'
  readonly tokens: Tokens
}

export type PricedEntry = UsageEntry & { readonly costNanos: number }

export const usagePrefix = 'use_'

type Columns = [
  id: string[],
  orgId: string[],
  projectId: string[],
  keyId: (string | null)[],
  requestId: string[],
  turn: number[],
  operation: string[],
  model: string[],
  batch: boolean[],
  outcome: string[],
  input: number[],
  cached: number[],
  output: number[],
  cost: number[],
]

const names = `id, org_id, project_id, key_id, request_id, turn, operation, model, batch, outcome, input_tokens,
  cached_tokens, output_tokens, cost_nanos`
const inserting = `insert into limits.usage (${names})
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[],
    $9::boolean[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[])`

const insert = statement<Columns, never>('limits.insert-usage', inserting)

const insertMissing = statement<[...Columns, sinceId: string], never>(
  'limits.insert-missing-usage',
  `${inserting} as given (${names})
   where not exists (select 1 from limits.usage as there
     where there.request_id = given.request_id and there.turn = given.turn and there.id >= $15)`,
)

const columnsOf = (entries: readonly PricedEntry[]): Columns => [
  entries.map(() => newId(usagePrefix)),
  entries.map(({ orgId }) => orgId),
  entries.map(({ projectId }) => projectId),
  entries.map(({ keyId }) => keyId),
  entries.map(({ requestId }) => requestId),
  entries.map(({ turn }) => turn),
  entries.map(({ operation }) => operation),
  entries.map(({ model }) => model),
  entries.map(({ batch }) => batch),
  entries.map(({ outcome }) => outcome),
  entries.map(({ tokens }) => tokens.input),
  entries.map(({ tokens }) => tokens.cached),
  entries.map(({ tokens }) => tokens.output),
  entries.map(({ costNanos }) => costNanos),
]

export async function insertUsage(at: Db<LimitsTables> | Tx, entries: readonly PricedEntry[]): Promise<void> {
  if (entries.length === 0) return
  const columns = columnsOf(entries)
  if ('kysely' in at) await at.run(insert, columns)
  else await own<LimitsTables>(at).executeQuery(CompiledQuery.raw(insert.text, columns))
}

/** Nobody goes on trying for so long. With it only the tables of a day or two are looked at. */
const unheardMs = 3_600_000

/** Entries of which nobody heard whether they were written: each is the only one of its model call. */
export async function insertMissingUsage(db: Db<LimitsTables>, entries: readonly PricedEntry[]): Promise<void> {
  await db.run(insertMissing, [...columnsOf(entries), firstIdAt(usagePrefix, Date.now() - unheardMs)])
}

const spentSince = statement<[string, Date], { project_id: string; nanos: number }>(
  'limits.spent-since',
  `select project_id, sum(cost_nanos)::bigint as nanos from limits.usage
   where org_id = $1 and at >= $2 group by project_id`,
)

/** What each project of an organisation has spent since then. */
export async function findSpent(
  db: Db<LimitsTables>,
  orgId: string,
  since: Date,
): Promise<{ project_id: string; nanos: number }[]> {
  return await db.run(spentSince, [orgId, since])
}

export interface DayUse {
  project_id: string
  model: string
  ago_ms: number
  requests: number
  tokens: number
}

const ofDay = statement<[string, number], DayUse>(
  'limits.use-of-day',
  `select project_id, model, extract(epoch from clock_timestamp() - min(at))::float8 * 1000 as ago_ms,
     count(distinct request_id)::int as requests, sum(input_tokens + output_tokens)::bigint as tokens
   from limits.usage
   where org_id = $1 and at > clock_timestamp() - interval '1 day' and not batch
   group by project_id, model, date_trunc('minute', at) order by min(at) limit $2`,
)

/** What was used in the last day, minute by minute, oldest first. */
export async function listUseOfDay(db: Db<LimitsTables>, orgId: string, limit: number): Promise<DayUse[]> {
  return await db.run(ofDay, [orgId, limit])
}

interface UsedRow {
  request_id: string
  turn: number
  tokens: number
  nanos: number
  /** Since it was written. */
  ago_ms: number
}

const ofRequests = statement<[string, string[]], UsedRow>(
  'limits.usage-of-requests',
  `select request_id, turn, sum(input_tokens + output_tokens)::bigint as tokens, sum(cost_nanos)::bigint as nanos,
     extract(epoch from clock_timestamp() - max(at))::float8 * 1000 as ago_ms
   from limits.usage where org_id = $1 and request_id = any($2::text[]) group by request_id, turn`,
)

/** What each turn of these requests used. */
export async function listUsed(db: Db<LimitsTables>, orgId: string, requestIds: readonly string[]): Promise<UsedRow[]> {
  return await db.run(ofRequests, [orgId, [...requestIds]])
}

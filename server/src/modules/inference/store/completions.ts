import type { ChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { ChatMessage } from '@switchyard/contracts/chat-messages.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { earlierId, idSpan, laterId } from '#platform/std/id-span.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { ChatAsked, KeptCompletion, StoredCompletion } from '../domain/stored-completion.ts'
import { dayTables } from './partitions.ts'
import type { InferenceTables } from './tables.ts'

/** Both a pool and a transaction. */
type Runs = Pick<Db<InferenceTables>, 'run'> | Tx

type Inserted = [
  id: string,
  projectId: string,
  createdAt: Date,
  model: string,
  requestId: string,
  metadata: string,
  asked: string,
  messages: string,
  completion: string,
  bytes: number,
]

const insert = statement<Inserted, never>(
  'inference.insert-completion',
  `insert into inference.completion (id, project_id, created_at, model, request_id, metadata, asked, messages, completion, bytes)
   values ($1, $2, $3, $4, $5, $6::jsonb, $7::json, $8::json, $9::json, $10)`,
)

export async function insertCompletion(at: Runs, projectId: string, stored: StoredCompletion): Promise<void> {
  const { id, createdAt, model, requestId, metadata } = stored
  const asked = JSON.stringify(stored.asked)
  const messages = JSON.stringify(stored.messages)
  const completion = JSON.stringify(stored.completion)
  const bytes = Buffer.byteLength(asked) + Buffer.byteLength(messages) + Buffer.byteLength(completion)
  const about = JSON.stringify(metadata)
  await at.run(insert, [id, projectId, createdAt, model, requestId, about, asked, messages, completion, bytes])
}

interface CompletionRow {
  id: string
  created_at: Date
  model: string
  request_id: string
  metadata: Record<string, string>
  asked: ChatAsked
  completion: ChatCompletion
}

const columns = 'id, created_at, model, request_id, metadata, asked, completion'

const keptOf = (row: CompletionRow): KeptCompletion => ({
  id: row.id,
  createdAt: row.created_at,
  model: row.model,
  requestId: row.request_id,
  metadata: row.metadata,
  asked: row.asked,
  completion: row.completion,
})

const find = statement<[string, string], CompletionRow>(
  'inference.find-completion',
  `select ${columns} from inference.completion where id = $1 and project_id = $2`,
)

export async function findCompletion(
  db: Db<InferenceTables>,
  projectId: string,
  id: string,
): Promise<KeptCompletion | null> {
  const [row] = await db.run(find, [id, projectId])
  return row === undefined ? null : keptOf(row)
}

const messagesOf = statement<[string, string], { messages: ChatMessage[] }>(
  'inference.completion-messages',
  'select messages from inference.completion where id = $1 and project_id = $2',
)

export async function findMessages(
  db: Db<InferenceTables>,
  projectId: string,
  id: string,
): Promise<ChatMessage[] | null> {
  const [row] = await db.run(messagesOf, [id, projectId])
  return row?.messages ?? null
}

const update = statement<[string, string, string], CompletionRow>(
  'inference.update-completion',
  `update inference.completion set metadata = $3::jsonb where id = $1 and project_id = $2 returning ${columns}`,
)

export async function updateMetadata(
  db: Db<InferenceTables>,
  projectId: string,
  id: string,
  metadata: Readonly<Record<string, string>>,
): Promise<KeptCompletion | null> {
  const [row] = await db.run(update, [id, projectId, JSON.stringify(metadata)])
  return row === undefined ? null : keptOf(row)
}

const remove = statement<[string, string], { id: string }>(
  'inference.delete-completion',
  'delete from inference.completion where id = $1 and project_id = $2 returning id',
)

/** Returns whether it was there. */
export async function deleteCompletion(db: Db<InferenceTables>, projectId: string, id: string): Promise<boolean> {
  return (await db.run(remove, [id, projectId])).length === 1
}

export interface CompletionFilter {
  /** Both bounds belong to the span; they are whole seconds. */
  readonly createdAfter?: Date | null
  readonly createdBefore?: Date | null
  /** A snapshot. */
  readonly model?: string | null
  /** All of these pairs. */
  readonly metadata?: Readonly<Record<string, string>> | null
}

/** What one page may bring into memory. The first of a page always comes, whatever its size. */
const pageBytesMax = 16 * 1024 * 1024
const secondMs = 1_000
/** The time in an id is ours, the one that is filtered by the provider's: so far apart, and a stream's length, they may be. */
const idTimeSlackMs = 86_400_000

type Listed = [
  projectId: string,
  limit: number,
  bytesMax: number,
  aboveId: string,
  belowId: string,
  model: string | null,
  metadata: string,
  createdAfter: Date | null,
  createdBefore: Date | null,
]

// Bounds are given even where nobody asked for any: `… or $4 is null` would not be a condition of the index. The texts are
// read from their own pages of the table only for rows that stay.
const page = <Row>(name: string, order: 'asc' | 'desc', shown: string) =>
  statement<Listed, Row & { found: number }>(
    name,
    `select ${shown}, found from (
       select *, sum(bytes) over (order by id ${order}) - bytes as bytes_before, count(*) over ()::int as found from (
         select ${shown}, bytes from inference.completion
         where project_id = $1 and id > $4 and id < $5 and ($6::text is null or model = $6) and metadata @> $7::jsonb
           and created_at >= coalesce($8::timestamptz, '-infinity') and created_at < coalesce($9::timestamptz, 'infinity')
         order by id ${order} limit $2) as rows) as counted
     where bytes_before < $3 order by id ${order}`,
  )

const listAsc = page<CompletionRow>('inference.list-completions-asc', 'asc', columns)
const listDesc = page<CompletionRow>('inference.list-completions-desc', 'desc', columns)
const listWhole = page<CompletionRow & { messages: ChatMessage[] }>(
  'inference.list-whole-completions',
  'asc',
  `${columns}, messages`,
)

function listed(
  projectId: string,
  filter: CompletionFilter,
  { after, limit, order }: { after: string | null; limit: number; order: 'asc' | 'desc' },
): Listed {
  const { createdAfter = null, createdBefore = null, model = null, metadata } = filter
  const span = idSpan(dayTables.idPrefix, { from: createdAfter, to: createdBefore }, idTimeSlackMs)
  return [
    projectId,
    limit,
    pageBytesMax,
    laterId(span.above, order === 'asc' ? after : null),
    earlierId(span.below, order === 'desc' ? after : null),
    model,
    JSON.stringify(metadata ?? {}),
    createdAfter,
    createdBefore === null ? null : new Date(createdBefore.getTime() + secondMs),
  ]
}

/** A page without messages, and whether there is another. */
export async function listCompletions(
  db: Db<InferenceTables>,
  projectId: string,
  filter: CompletionFilter,
  asked: { after: string | null; limit: number; order: 'asc' | 'desc' },
): Promise<{ rows: KeptCompletion[]; more: boolean }> {
  const statementOf = asked.order === 'asc' ? listAsc : listDesc
  const rows = await db.run(statementOf, listed(projectId, filter, { ...asked, limit: asked.limit + 1 }))
  const shown = rows.slice(0, asked.limit)
  return { rows: shown.map(keptOf), more: (rows[0]?.found ?? 0) > shown.length }
}

/** The oldest after an id, with their messages. */
export async function listWithMessages(
  db: Db<InferenceTables>,
  projectId: string,
  filter: CompletionFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<StoredCompletion[]> {
  const rows = await db.run(listWhole, listed(projectId, filter, { after, limit, order: 'asc' }))
  return rows.map((row) => ({ ...keptOf(row), messages: row.messages }))
}

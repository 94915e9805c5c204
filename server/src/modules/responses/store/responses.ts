import type { OutputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { ResponseError, ResponseStatus, Usage } from '@switchyard/contracts/responses/response.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Asked } from '../domain/asked.ts'
import type { IncompleteReason, ResponseState } from '../domain/response-view.ts'
import type { ResponsesTables } from './tables.ts'

interface ResponseRow {
  id: string
  created_at: Date
  asked: Asked
  background: boolean
  previous_id: string | null
  conversation_id: string | null
  ended_status: ResponseStatus | null
  ended_at: Date | null
  error: ResponseError | null
  incomplete_reason: IncompleteReason | null
  usage: Usage | null
  running_status: ResponseStatus | null
  output: OutputItem[] | null
}

// A row that has neither ended nor runs was read between two statements of nobody's: the join makes it one picture.
const find = statement<[string, string], ResponseRow>(
  'responses.find',
  `select r.id, r.created_at, r.asked, r.background, r.previous_id, r.conversation_id, r.ended_status, r.ended_at, r.error,
     r.incomplete_reason, r.usage, n.status as running_status,
     (select json_agg(i.item order by i.position) from responses.item i where i.response_id = r.id and i.is_output) as output
   from responses.response r left join responses.running n on n.id = r.id
   where r.id = $1 and r.project_id = $2`,
)

export async function findResponse(
  db: Pick<Db<ResponsesTables>, 'run'> | Tx,
  projectId: string,
  id: string,
): Promise<ResponseState | null> {
  const [row] = await db.run(find, [id, projectId])
  return row === undefined ? null : stateOf(row)
}

function stateOf(row: ResponseRow): ResponseState {
  return {
    id: row.id,
    createdAt: row.created_at,
    asked: row.asked,
    previousId: row.previous_id,
    conversationId: row.conversation_id,
    status: row.ended_status ?? row.running_status ?? 'in_progress',
    completedAt: row.ended_at,
    error: row.error,
    incompleteReason: row.incomplete_reason,
    usage: row.usage,
    output: row.output ?? [],
  }
}

const chainMax = 10_000

/** Items of a response and of everything before it, oldest first, with whether each response on the way has ended. */
const chain = statement<[string, string], { item: StoredItem | null; ended: boolean; found: boolean }>(
  'responses.chain',
  `with recursive chain as (
     select id, previous_id, ended_status is not null as ended, 0 as depth
     from responses.response where id = $1 and project_id = $2
     union all
     select r.id, r.previous_id, r.ended_status is not null, c.depth + 1
     from chain c join responses.response r on r.id = c.previous_id and r.project_id = $2
     where c.depth < ${chainMax}
   )
   select i.item, c.ended, true as found from chain c left join responses.item i on i.response_id = c.id
   order by c.depth desc, i.position`,
)

export interface History {
  readonly items: StoredItem[]
  /** Whether the newest response has ended. */
  readonly ended: boolean
}

/** Null when the project has no such response. */
export async function findHistory(db: Db<ResponsesTables>, projectId: string, id: string): Promise<History | null> {
  const rows = await db.run(chain, [id, projectId])
  const last = rows.at(-1)
  if (last === undefined) return null
  return { items: rows.flatMap(({ item }) => (item === null ? [] : [item])), ended: last.ended }
}

const own = statement<[string], { item: StoredItem; is_output: boolean }>(
  'responses.own-items',
  `select item, is_output from responses.item where response_id = $1 order by position`,
)

/** What one response was given and has said so far. */
export async function listOwnItems(
  db: Db<ResponsesTables>,
  id: string,
): Promise<{ input: StoredItem[]; output: OutputItem[] }> {
  const rows = await db.run(own, [id])
  return {
    input: rows.filter((row) => !row.is_output).map((row) => row.item),
    output: rows.filter((row) => row.is_output).map((row) => row.item as OutputItem),
  }
}

const referred = statement<[string, string[]], { id: string; item: StoredItem }>(
  'responses.referred',
  `select id, item from responses.item where project_id = $1 and id = any($2::text[])`,
)

/** Items that a request names instead of sending them. */
export async function findItems(
  db: Db<ResponsesTables>,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, StoredItem>> {
  if (ids.length === 0) return new Map()
  const rows = await db.run(referred, [projectId, [...ids]])
  return new Map(rows.map(({ id, item }) => [id, item]))
}

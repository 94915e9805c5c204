import type { OutputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { idSpan, laterId } from '#platform/std/id-span.ts'
import type { Asked } from '../domain/asked.ts'
import type { ResponseState } from '../domain/response-view.ts'
import { dayTables } from './partitions.ts'
import type { ResponsesTables } from './tables.ts'

/** Which responses are wanted: those that fulfil all that is given. */
export interface LoggedFilter {
  /** Both bounds belong to the span; they are whole seconds. */
  readonly createdAfter?: Date | null
  readonly createdBefore?: Date | null
  /** A part of the instructions, in any case. */
  readonly instructionsSearch?: string | null
  /** All of these pairs. */
  readonly metadata?: Readonly<Record<string, string>> | null
  /** A snapshot. */
  readonly model?: string | null
  readonly reasoningEffort?: string | null
  readonly temperature?: number | null
  readonly topP?: number | null
  /** Offered any of these, by their names or kinds. */
  readonly tools?: readonly string[] | null
  /** Asked for by any of these, as `user` or `safety_identifier` said. */
  readonly users?: readonly string[] | null
}

export interface LoggedState {
  readonly state: ResponseState
  readonly input: readonly StoredItem[]
}

/** What one page may bring into memory. The first of a page always comes, whatever its size. */
const pageBytesMax = 16 * 1024 * 1024
/** Looked at by one statement, whether they are wanted or not: a filter that hardly any fulfils must not outlast it. */
const looksMax = 500
const secondMs = 1_000
/** An id is made when a request comes, on a machine with a clock of its own. */
const idTimeSlackMs = 3_600_000

type Listed = [
  projectId: string,
  limit: number,
  bytesMax: number,
  aboveId: string,
  lastId: string,
  createdAfter: Date | null,
  createdBefore: Date | null,
  model: string | null,
  metadata: string,
  instructionsSearch: string | null,
  effort: string | null,
  temperature: number | null,
  topP: number | null,
  tools: readonly string[] | null,
  users: readonly string[] | null,
]

interface ListedRow {
  id: string
  created_at: Date
  asked: Asked
  previous_id: string | null
  conversation_id: string | null
  ended_at: Date
  usage: Usage | null
}

const columns = 'id, created_at, asked, previous_id, conversation_id, ended_at, usage'

// The index gives a project's responses in order; the rest is looked at one by one. Sizes are those of the page alone.
const list = statement<Listed, ListedRow>(
  'responses.list-logged',
  `select ${columns} from (
     select ${columns}, sum(bytes) over (order by id) - bytes as bytes_before from (
       select ${columns}, octet_length(asked::text) + coalesce(
         (select sum(octet_length(i.item::text)) from responses.item i where i.response_id = page.id), 0) as bytes
       from (
         select ${columns} from responses.response
         where project_id = $1 and id > $4 and id <= $5 and ended_status = 'completed'
           and created_at >= coalesce($6::timestamptz, '-infinity') and created_at < coalesce($7::timestamptz, 'infinity')
           and ($8::text is null or asked ->> 'model' = $8)
           and ($9::text = '{}' or (asked -> 'metadata')::jsonb @> $9::jsonb)
           and ($10::text is null or position(lower($10) in lower(asked ->> 'instructions')) > 0)
           and ($11::text is null or asked -> 'reasoning' ->> 'effort' = $11)
           and ($12::float8 is null or coalesce((asked ->> 'temperature')::float8, 1) = $12)
           and ($13::float8 is null or coalesce((asked ->> 'topP')::float8, 1) = $13)
           and ($14::text[] is null or exists (select 1 from json_array_elements(asked -> 'tools') as tool
             where tool ->> 'name' = any($14) or tool ->> 'type' = any($14)))
           and ($15::text[] is null or asked ->> 'user' = any($15) or asked ->> 'safetyIdentifier' = any($15))
         order by id limit $2) as page) as sized) as counted
   where bytes_before < $3 order by id`,
)

const borderOf = statement<[projectId: string, aboveId: string, lastId: string, looks: number], { id: string }>(
  'responses.logged-border',
  `select id from responses.response where project_id = $1 and id > $2 and id <= $3 order by id offset $4 limit 1`,
)

// One lookup for each, which prunes to its day; an array would be looked for in all of them.
const itemsOf = statement<[readonly string[]], { response_id: string; is_output: boolean; item: StoredItem }>(
  'responses.items-of-many',
  `select i.response_id, i.is_output, i.item from unnest($1::text[]) as given (id)
     cross join lateral (select response_id, position, is_output, item from responses.item where response_id = given.id) as i
   order by i.response_id, i.position`,
)

/** Completed responses of a project after an id, oldest first, with their items. */
export async function listLoggedStates(
  db: Db<ResponsesTables>,
  projectId: string,
  filter: LoggedFilter,
  page: { readonly after: string | null; readonly limit: number },
): Promise<LoggedState[]> {
  const rows = await findWanted(db, paramsOf(projectId, filter, page))
  const ids = rows.map(({ id }) => id)
  const items = Map.groupBy(ids.length === 0 ? [] : await db.run(itemsOf, [ids]), (item) => item.response_id)
  return rows.map((row) => {
    const own = items.get(row.id) ?? []
    const output = own.filter((item) => item.is_output).map(({ item }) => item as OutputItem)
    return { state: stateOf(row, output), input: own.filter((item) => !item.is_output).map(({ item }) => item) }
  })
}

/** From one border to the next until some are wanted. Each is further on than the last, so there is an end. */
async function findWanted(db: Db<ResponsesTables>, params: Listed): Promise<ListedRow[]> {
  const [projectId, limit, bytesMax, first, lastId, ...wanted] = params
  for (let aboveId = first; ;) {
    const [border] = await db.run(borderOf, [projectId, aboveId, lastId, looksMax - 1])
    const rows = await db.run(list, [projectId, limit, bytesMax, aboveId, border?.id ?? lastId, ...wanted])
    if (rows.length > 0 || border === undefined) return rows
    aboveId = border.id
  }
}

function paramsOf(
  projectId: string,
  filter: LoggedFilter,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Listed {
  const { createdAfter = null, createdBefore = null } = filter
  const { above, below } = idSpan(dayTables.idPrefix, { from: createdAfter, to: createdBefore }, idTimeSlackMs)
  return [
    projectId,
    limit,
    pageBytesMax,
    laterId(above, after),
    below,
    createdAfter,
    createdBefore === null ? null : new Date(createdBefore.getTime() + secondMs),
    filter.model ?? null,
    JSON.stringify(filter.metadata ?? {}),
    filter.instructionsSearch ?? null,
    filter.reasoningEffort ?? null,
    filter.temperature ?? null,
    filter.topP ?? null,
    filter.tools ?? null,
    filter.users ?? null,
  ]
}

const stateOf = (row: ListedRow, output: OutputItem[]): ResponseState => ({
  id: row.id,
  createdAt: row.created_at,
  asked: row.asked,
  previousId: row.previous_id,
  conversationId: row.conversation_id,
  status: 'completed',
  completedAt: row.ended_at,
  error: null,
  incompleteReason: null,
  usage: row.usage,
  output,
})

import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { ResponseError, Usage } from '@switchyard/contracts/responses/response.ts'
import { CompiledQuery, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Asked } from '../domain/asked.ts'
import { containerOf } from '../domain/call-item.ts'
import type { Metering } from '../domain/metering.ts'
import type { IncompleteReason } from '../domain/response-view.ts'
import { itemRows } from './item-rows.ts'
import type { ResponsesTables } from './tables.ts'

export interface NewResponse {
  readonly id: string
  readonly projectId: string
  readonly metering: Metering | null
  readonly asked: Asked
  readonly previousId: string | null
  readonly conversationId: string | null
  /** What the conversation was when its items were read. */
  readonly conversationVersion: number | null
  readonly input: readonly StoredItem[]
  /** Foreground: the process that works on it. Null: background. */
  readonly node: string | null
  /** Background: whether its first step is submitted with it. */
  readonly submitted: boolean
  /** Events that were stored with it. */
  readonly nextNumber: number
}

/** The conversation has a response under way already, or has changed since its items were read. */
export class ConversationBusy extends Error {
  override name = 'ConversationBusy'
}

const isBusy = (error: unknown) =>
  (error as { code?: unknown; constraint?: unknown }).code === '23505' &&
  (error as { constraint?: unknown }).constraint === 'running_conversation_id_key'

type Accepting = [
  id: string,
  projectId: string,
  asked: string,
  background: boolean,
  previousId: string | null,
  conversationId: string | null,
  conversationVersion: number | null,
  input: string,
  node: string | null,
  submitted: boolean,
  nextNumber: number,
  containerId: string | null,
  orgId: string | null,
  keyId: string | null,
  requestId: string | null,
  limited: boolean,
  batch: boolean,
]

// Named, because planning its inserts into tables of days costs PostgreSQL more than carrying them out.
const insert = statement<Accepting, { created_at: Date }>(
  'responses.accept',
  `with held as (
     select id from responses.conversation where id = $6 and project_id = $2 and version = $7 for share
   ), made as (
     insert into responses.response (id, project_id, asked, background, previous_id, conversation_id)
     select $1, $2, $3::json, $4::boolean, $5::text, $6::text
     where $6::text is null or exists (select 1 from held)
     returning created_at
   ), items as (
     insert into responses.item (response_id, position, is_output, project_id, id, item)
     select $1, (n - 1)::int, false, $2, i ->> 'id', (i ->> 'item')::json
     from made, json_array_elements($8::json) with ordinality as given (i, n)
   ), runs as (
     insert into responses.running (id, project_id, conversation_id, background, node, status, submitted, next_number,
       container_id, org_id, key_id, request_id, limited, batch)
     select $1, $2, $6::text, $4::boolean, $9::text, case when $9::text is null then 'queued' else 'in_progress' end,
       $10::boolean, $11::int, $12::text, $13::text, $14::text, $15::text, $16::boolean, $17::boolean
     from made
   )
   select created_at from made`,
)

/** Accepts a response: it exists, it runs, and its conversation is its own. One statement. */
export async function insertResponse(at: Db<ResponsesTables> | Tx, response: NewResponse): Promise<Date> {
  const { id, projectId, metering, asked, previousId, conversationId, conversationVersion, node } = response
  const params: Accepting = [
    id,
    projectId,
    JSON.stringify(asked),
    asked.background,
    previousId,
    conversationId,
    conversationVersion,
    itemRows(response.input),
    node,
    response.submitted,
    response.nextNumber,
    containerOf(asked.shellPlace),
    metering?.orgId ?? null,
    metering?.keyId ?? null,
    metering?.requestId ?? null,
    metering?.limited ?? false,
    metering?.batch ?? false,
  ]
  try {
    const [row] =
      'kysely' in at
        ? await at.run(insert, params)
        : (await own<ResponsesTables>(at).executeQuery<{ created_at: Date }>(CompiledQuery.raw(insert.text, params)))
            .rows
    if (row === undefined) throw new ConversationBusy('the conversation has changed')
    return row.created_at
  } catch (error) {
    if (error instanceof ConversationBusy) throw error
    throw isBusy(error) ? new ConversationBusy('a response is under way in this conversation', { cause: error }) : error
  }
}

export interface Ended {
  readonly status: 'completed' | 'failed' | 'incomplete' | 'cancelled'
  readonly error: ResponseError | null
  readonly incompleteReason: IncompleteReason | null
  readonly usage: Usage | null
}

/** Who may end it: the node that works on it, the attempt that holds it, or anybody. */
export type Holder = { readonly node: string } | { readonly attempt: number } | 'anybody'

export interface EndedRow {
  ended_at: Date
  project_id: string
  conversation_id: string | null
  submitted: boolean
  background: boolean
  /** As of its last step that was committed. */
  next_number: number
  next_output_index: number
  status: 'queued' | 'in_progress'
  step: number
  org_id: string | null
  key_id: string | null
  request_id: string | null
  limited: boolean
  batch: boolean
}

/** Ends a response unless somebody ended it first, and adds its last items. Null when it was not there to be ended. */
export async function endResponse(
  tx: Tx,
  id: string,
  holder: Holder,
  ended: Ended,
  items: readonly StoredItem[],
): Promise<EndedRow | null> {
  const mine =
    holder === 'anybody' ? sql`true` : 'node' in holder ? sql`node = ${holder.node}` : sql`attempt = ${holder.attempt}`
  const { rows } = await sql<EndedRow>`
    with over as (
      delete from responses.running where id = ${id} and ${mine}
      returning id, project_id, conversation_id, submitted, background, usage, next_number, next_output_index,
        status, step, org_id, key_id, request_id, limited, batch
    ), closed as (
      update responses.response r set ended_status = ${ended.status}, ended_at = clock_timestamp(),
        error = ${ended.error === null ? null : JSON.stringify(ended.error)},
        incomplete_reason = ${ended.incompleteReason},
        usage = coalesce(${ended.usage === null ? null : JSON.stringify(ended.usage)}::json, over.usage)
      from over where r.id = ${id}
      returning r.ended_at
    ), items as (
      insert into responses.item (response_id, position, is_output, project_id, id, item)
      select ${id}, (select coalesce(max(position) + 1, 0) from responses.item where response_id = ${id}) + (n - 1)::int,
        true, over.project_id, i ->> 'id', (i ->> 'item')::json
      from over, json_array_elements(${itemRows(items)}::json) with ordinality as given (i, n)
    )
    select closed.ended_at, over.project_id, over.conversation_id, over.submitted, over.background,
      over.next_number, over.next_output_index, over.status, over.step, over.org_id, over.key_id, over.request_id,
      over.limited, over.batch from closed, over`.execute(own<ResponsesTables>(tx))
  return rows[0] ?? null
}

/** Removes a response with everything it holds. */
export async function removeResponse(tx: Tx, projectId: string, id: string): Promise<void> {
  const tables = own<ResponsesTables>(tx)
  const gone = await tables
    .deleteFrom('responses.response')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  if (gone.numDeletedRows === 0n) return
  await tables.deleteFrom('responses.item').where('response_id', '=', id).execute()
  await tables.deleteFrom('responses.event').where('response_id', '=', id).execute()
}

import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { ResponsesTables } from './tables.ts'

/** Events of one response with consecutive numbers, one JSON text a line. */
export interface EventBatch {
  readonly responseId: string
  readonly first: number
  readonly last: number
  readonly lines: string
}

/** Stores events in the caller's transaction. A batch that is there already, from a try whose answer was lost, stays. */
export async function insertEvents(tx: Tx, batches: readonly EventBatch[]): Promise<void> {
  if (batches.length === 0) return
  await own<ResponsesTables>(tx)
    .insertInto('responses.event')
    .values(batches.map(({ responseId, first, last, lines }) => ({ response_id: responseId, first, last, lines })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const insertFenced = statement<[string], { id: string; attempt: number }>(
  'responses.insert-events',
  `with given as (
     select * from json_to_recordset($1::json)
       as e ("responseId" text collate "C", attempt integer, first integer, last integer, lines text)
   ), mine as (
     select g.* from given g join responses.running r on r.id = g."responseId" and r.attempt = g.attempt for share of r
   ), stored as (
     insert into responses.event (response_id, first, last, lines)
     select "responseId", first, last, lines from mine on conflict do nothing
   )
   select "responseId" as id, attempt from mine`,
)

export type AttemptBatch = EventBatch & { readonly attempt: number }

/** Names an attempt: two of one response may write at once, and only one of them is believed. */
export const attemptKey = (one: { readonly responseId: string; readonly attempt: number }) =>
  `${one.responseId}:${one.attempt}`

/** Stores batches of many responses at once. Returns the attempts that their responses still belong to. */
export async function insertEventsFenced(
  db: Db<ResponsesTables>,
  batches: readonly AttemptBatch[],
): Promise<Set<string>> {
  const rows = await db.run(insertFenced, [JSON.stringify(batches)])
  return new Set(rows.map(({ id, attempt }) => attemptKey({ responseId: id, attempt })))
}

const after = statement<[string, number, number], EventBatch>(
  'responses.events-after',
  `select response_id as "responseId", first, last, lines from responses.event
   where response_id = $1 and last > $2 order by first limit $3`,
)

const page = statement<[string, number, number, number], EventBatch>(
  'responses.events-page',
  `select response_id as "responseId", first, last, lines from (
     select *, sum(octet_length(lines)) over (order by first) - octet_length(lines) as bytes_before from (
       select * from responses.event where response_id = $1 and last > $2 order by first limit $3) as next
   ) as sized where bytes_before < $4 order by first`,
)

/** The same, but no row begins beyond so many bytes: for readers who may be slow. */
export async function listEventsPage(
  db: Db<ResponsesTables>,
  responseId: string,
  number: number,
  { rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
): Promise<EventBatch[]> {
  return await db.run(page, [responseId, number, rowsMax, bytesMax])
}

/** Stored events past a number, oldest first. */
export async function listEventsAfter(
  db: Db<ResponsesTables>,
  responseId: string,
  number: number,
  limit: number,
): Promise<EventBatch[]> {
  return await db.run(after, [responseId, number, limit])
}

/** Stored events of a response from a number on, in the caller's transaction. */
export async function listEventsIn(tx: Tx, responseId: string, from: number): Promise<EventBatch[]> {
  const { rows } = await sql<EventBatch>`
    select response_id as "responseId", first, last, lines from responses.event
    where response_id = ${responseId} and first >= ${from} order by first`.execute(own<ResponsesTables>(tx))
  return rows
}

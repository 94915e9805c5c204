import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { BatchesTables } from './tables.ts'

export interface LineRow {
  n: number
  custom_id: string
  byte_offset: number
  bytes: number
}

const insert = statement<[string, number, number[], string[], number[], number[]], { n: number }>(
  'batches.insert-lines',
  `with held as (
     select id from batches.batch where id = $1 and attempt = $2 and status = 'validating' for share
   )
   insert into batches.line (batch_id, n, custom_id, byte_offset, bytes)
   select held.id, given.* from held, unnest($3::int[], $4::text[], $5::bigint[], $6::int[]) as given
   on conflict do nothing`,
)

/** A file never changes, so lines that an earlier attempt wrote are the same. */
export async function insertLines(
  db: Db<BatchesTables>,
  batchId: string,
  attempt: number,
  lines: readonly LineRow[],
): Promise<void> {
  await db.run(insert, [
    batchId,
    attempt,
    lines.map(({ n }) => n),
    lines.map(({ custom_id: customId }) => customId),
    lines.map(({ byte_offset: offset }) => offset),
    lines.map(({ bytes }) => bytes),
  ])
}

// Both by their ranges: a join that is planned while the batch has few results would read all of them for each line.
const open = statement<[string, number, number], LineRow>(
  'batches.open-lines',
  `select l.n, l.custom_id, l.byte_offset, l.bytes from batches.line l
   where l.batch_id = $1 and l.n between $2 and $3
     and l.n <> all (array(select r.n from batches.result r where r.batch_id = $1 and r.n between $2 and $3))
   order by l.n`,
)

/** Lines of a chunk that have no result yet. */
export async function listOpenLines(
  db: Db<BatchesTables>,
  batchId: string,
  first: number,
  last: number,
): Promise<LineRow[]> {
  return await db.run(open, [batchId, first, last])
}

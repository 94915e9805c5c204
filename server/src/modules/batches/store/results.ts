import { sql, type RawBuilder } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { noTotals, type Totals } from '../domain/batch-view.ts'
import type { EndedLine } from '../domain/file-line.ts'
import type { LineTokens } from '../domain/line-tokens.ts'
import type { BatchesTables } from './tables.ts'

export interface NewResult {
  readonly id: string
  readonly ok: boolean
  readonly statusCode: number
  readonly requestId: string
  /** JSON. */
  readonly body: string
  readonly tokens: LineTokens
}

type Inserted = [
  batchId: string,
  n: number,
  id: string,
  ok: boolean,
  statusCode: number,
  requestId: string,
  body: string,
  bodyBytes: number,
  input: number,
  cached: number,
  output: number,
  reasoning: number,
]

const insert = statement<Inserted, { n: number }>(
  'batches.insert-result',
  `insert into batches.result (batch_id, n, id, ok, status_code, request_id, body, body_bytes,
     input_tokens, cached_tokens, output_tokens, reasoning_tokens)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing returning n`,
)

/** How a line ended. The rows returned are for `fenced`: none when it had a result already. */
export async function insertResult(tx: Tx, batchId: string, n: number, result: NewResult): Promise<readonly unknown[]> {
  const { id, ok, statusCode, requestId, body, tokens } = result
  return await tx.run(insert, [
    batchId,
    n,
    id,
    ok,
    statusCode,
    requestId,
    body,
    Buffer.byteLength(body),
    tokens.input,
    tokens.cached,
    tokens.output,
    tokens.reasoning,
  ])
}

/** The sums over results, as JSON of the form `Totals`. */
export function totalsOfLines(which: RawBuilder<unknown>): RawBuilder<{ totals: Totals }> {
  return sql`
    select json_build_object('completed', count(*) filter (where ok), 'failed', count(*) filter (where not ok),
      'input', coalesce(sum(input_tokens), 0), 'cached', coalesce(sum(cached_tokens), 0),
      'output', coalesce(sum(output_tokens), 0), 'reasoning', coalesce(sum(reasoning_tokens), 0)) as totals
    from batches.result where ${which}`
}

/** The sums over all results of a batch. */
export async function totalsOf(db: Db<BatchesTables>, batchId: string): Promise<Totals> {
  const { rows } = await totalsOfLines(sql`batch_id = ${batchId}`).execute(db.kysely)
  return rows[0]?.totals ?? noTotals
}

const soFar = statement<[string[]], { batch_id: string } & Totals>(
  'batches.totals-so-far',
  `with done as (
     select batch_id, sum((totals ->> 'completed')::bigint) as completed, sum((totals ->> 'failed')::bigint) as failed,
       sum((totals ->> 'input')::bigint) as input, sum((totals ->> 'cached')::bigint) as cached,
       sum((totals ->> 'output')::bigint) as output, sum((totals ->> 'reasoning')::bigint) as reasoning
     from batches.chunk where batch_id = any($1) and totals is not null group by batch_id
   ), under_way as (
     select r.batch_id, count(*) filter (where ok) as completed, count(*) filter (where not ok) as failed,
       sum(input_tokens) as input, sum(cached_tokens) as cached, sum(output_tokens) as output,
       sum(reasoning_tokens) as reasoning
     from batches.chunk c join batches.result r on r.batch_id = c.batch_id and r.n between c.first_line and c.last_line
     where c.batch_id = any($1) and c.status = 'submitted' group by r.batch_id
   )
   select batch_id, sum(completed)::bigint as completed, sum(failed)::bigint as failed, sum(input)::bigint as input,
     sum(cached)::bigint as cached, sum(output)::bigint as output, sum(reasoning)::bigint as reasoning
   from (select * from done union all select * from under_way) as both_kinds group by batch_id`,
)

/** How far batches have come: sums that their chunks have written, and the results of those under way. */
export async function totalsSoFar(db: Db<BatchesTables>, batchIds: string[]): Promise<ReadonlyMap<string, Totals>> {
  if (batchIds.length === 0) return new Map()
  const rows = await db.run(soFar, [batchIds])
  return new Map(rows.map(({ batch_id: batchId, ...totals }) => [batchId, totals]))
}

/** Which lines a file is made of. */
export type FileKind = 'output' | 'errors' | 'errors_and_unfinished'

const wanted: Readonly<Record<FileKind, string>> = {
  output: 'r.ok',
  errors: 'not r.ok',
  errors_and_unfinished: 'r.ok is not true',
}

export interface NumberedLine extends EndedLine {
  readonly n: number
}

const page = (kind: FileKind) =>
  statement<[string, number, number, number], NumberedLine>(
    `batches.page-${kind}`,
    `select n, custom_id, id, status_code, request_id, body from (
       select ended.*, sum(body_bytes) over (order by n) - body_bytes as bytes_before from (
         select l.n, l.custom_id, r.id, r.status_code, r.request_id, r.body,
           coalesce(r.body_bytes, 0) as body_bytes
         from batches.line l left join batches.result r on r.batch_id = l.batch_id and r.n = l.n
         where l.batch_id = $1 and l.n > $2 and ${wanted[kind]} order by l.n limit $3
       ) as ended
     ) as lines where bytes_before < $4 order by n`,
  )

const pages: Readonly<Record<FileKind, ReturnType<typeof page>>> = {
  output: page('output'),
  errors: page('errors'),
  errors_and_unfinished: page('errors_and_unfinished'),
}

/** Lines of a file after one of them: so many, and no more once they have so many bytes. None: there are no more. */
export async function listEnded(
  db: Db<BatchesTables>,
  kind: FileKind,
  batchId: string,
  after: number,
  bounds: { linesMax: number; bytesMax: number },
): Promise<NumberedLine[]> {
  return await db.run(pages[kind], [batchId, after, bounds.linesMax, bounds.bytesMax])
}

/** How many lines of a batch have no result. */
export async function countUnfinished(db: Db<BatchesTables>, batchId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from batches.line l where l.batch_id = ${batchId}
      and not exists (select 1 from batches.result r where r.batch_id = l.batch_id and r.n = l.n)`.execute(db.kysely)
  return rows[0]?.count ?? 0
}

const toClear = statement<[], { id: string }>(
  'batches.to-clear',
  `select id from batches.batch where ended_at is not null and cleared_at is null order by ended_at limit 1`,
)

/** Removes some rows of a batch that has ended; what it leaves is in its files. Returns how many, 0 when none has any. */
export async function clearEnded(db: Db<BatchesTables>, rowsMax: number): Promise<number> {
  const [batch] = await db.run(toClear, [])
  if (batch === undefined) return 0
  return await db.tx(async (tx) => {
    const tables = own<BatchesTables>(tx)
    const { numAffectedRows: removed = 0n } = await sql`
      with results as (
        delete from batches.result where batch_id = ${batch.id} and n in
          (select n from batches.result where batch_id = ${batch.id} order by n limit ${rowsMax})
      ), chunks as (
        delete from batches.chunk where batch_id = ${batch.id}
      )
      delete from batches.line where batch_id = ${batch.id} and n in
        (select n from batches.line where batch_id = ${batch.id} order by n limit ${rowsMax})`.execute(tables)
    if (removed === 0n) {
      await sql`update batches.batch set cleared_at = clock_timestamp() where id = ${batch.id}`.execute(tables)
    }
    return Number(removed) + 1
  })
}

import pg from 'pg'

export interface Fill {
  readonly url: string
  /** The project that is asked for its pages. */
  readonly projectId: string
  readonly filesTotal: number
  /** As many again for each row of the tested project belong to others, laid between its rows as time would lay them. */
  readonly othersPerFile: number
}

/** Neighbours share the table with the tested project; there are this many of them. */
const neighboursTotal = 997
/** Rows a statement: large enough to be fast, small enough to show progress and to be ended. */
const batchRows = 500_000
/** One file in ten has the purpose that the filtered page asks for. */
export const filteredPurpose = 'evals'

/** As newId writes it: nine characters of five bits, then three bits before the version's first two. */
const timeInBase32 = [
  ...Array.from({ length: 9 }, (_none, at) => {
    return `substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> ${43 - 5 * at}) & 31)::integer + 1, 1)`
  }),
  "substr('159dhnsx', (ms & 7)::integer + 1, 1)",
].join(' || ')

/**
 * Rows in the order they would have been made in, through the indexes as they are, so that the pages of the table and
 * of each index look as they would after years of use. Ids have the real form: a prefix, the time in base32, then random
 * characters of the same alphabet. One file in five has an expiry, a year ahead.
 */
const insertRows = `
  insert into files.file (id, project_id, filename, purpose, bytes, created_at, expires_at)
  select 'file-' || ${timeInBase32}
         || substr(md5(n::text || 'file'), 1, 16),
         case when n % (1 + $2::bigint) = 0 then $1 else 'proj_c0neighbour' || lpad((n % ${neighboursTotal})::text, 17, '0') end,
         'file-' || n || '.jsonl',
         case n / (1 + $2::bigint) % 10 when 0 then '${filteredPurpose}' when 1 then 'batch' when 2 then 'vision' else 'user_data' end,
         1000 + n % 1000000,
         to_timestamp(ms / 1000.0),
         case when n % 5 = 0 then clock_timestamp() + interval '1 year' end
  from generate_series($3::bigint, $4::bigint) as n
  cross join lateral (select 1700000000000 + n * 7 as ms) as moment`

export async function fillFiles(fill: Fill, onProgress: (rows: number) => void = () => {}): Promise<void> {
  const client = new pg.Client({ connectionString: fill.url })
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    const rowsTotal = fill.filesTotal * (1 + fill.othersPerFile)
    for (let from = 1; from <= rowsTotal; from += batchRows) {
      const to = Math.min(rowsTotal, from + batchRows - 1)
      await client.query(insertRows, [fill.projectId, fill.othersPerFile, from, to])
      onProgress(to)
    }
    await client.query('vacuum (analyze) files.file')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

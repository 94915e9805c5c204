import type { CreateDataSourceConfig } from '@switchyard/contracts/evals/data-sources.ts'
import type { Db } from '#platform/db/db.ts'
import { fenced } from '#platform/durable/fence.ts'
import type { ParsedRow, SoundRow } from '../domain/parse-row.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import type { ClaimedRun } from '../store/lifecycle.ts'
import { clearRows, countRows, insertRows, type NewRow } from '../store/rows.ts'
import type { EvalsTables } from '../store/tables.ts'
import type { ItemSchemas } from './item-schemas.ts'
import { mayChange, readSource, type ReadSourceUses, type Source } from './read-source.ts'

export interface LoadRowsUses extends ReadSourceUses {
  readonly db: Db<EvalsTables>
  readonly itemSchemas: Pick<ItemSchemas, 'check'>
  /** Rows of one run. */
  readonly rowsMax: number
}

/** Checked and written together; what a run holds of its rows in memory is one such group. */
const group = { rowsMax: 500, bytesMax: 4 * 1024 * 1024 }

/** Streams the rows of a run into PostgreSQL. Returns how many there are. */
export async function loadRows(
  use: LoadRowsUses,
  run: ClaimedRun,
  config: CreateDataSourceConfig,
  signal: AbortSignal,
): Promise<number> {
  const source = narrowed(run.data_source.source, config)
  if (mayChange(source)) await clearRows(use.db, run.id, run.attempt)
  const written = await countRows(use.db, run.id)
  const schema = config.type === 'custom' ? config.item_schema : null
  let rows: NewRow[] = []
  let sound: { at: number; row: SoundRow }[] = []
  let bytes = 0
  let total = 0
  const write = async () => {
    if (rows.length === 0) return
    const checked = schema === null ? rows : await checkItems(use, schema, rows, sound)
    fenced(await insertRows(use.db, run.id, run.attempt, checked))
    rows = []
    sound = []
    bytes = 0
  }
  for await (const parsed of readSource(use, run.project_id, source)) {
    signal.throwIfAborted()
    if (total >= use.rowsMax) throw new RunCannotGoOn('too_many_rows', `A run has at most ${use.rowsMax} rows.`)
    if (total < written) {
      // By an earlier attempt, with everything before it.
      total += 1
      continue
    }
    const row = rowOf(total, parsed)
    total += 1
    if (!('error' in parsed)) sound.push({ at: rows.length, row: parsed })
    rows.push(row)
    bytes += row.item.length + (row.sample?.length ?? 0)
    if (rows.length >= group.rowsMax || bytes >= group.bytesMax) await write()
  }
  await write()
  if (total === 0) throw new RunCannotGoOn('empty_source', 'The source of the run has no rows.')
  return total
}

/** An eval over logs names those it is about; a run may choose among them. */
function narrowed(source: Source, config: CreateDataSourceConfig): Source {
  if (config.type === 'custom' || config.metadata == null) return source
  if (source.type !== 'stored_completions' && source.type !== 'responses') return source
  return { ...source, metadata: { ...source.metadata, ...config.metadata } }
}

function rowOf(n: number, parsed: ParsedRow): NewRow {
  if ('error' in parsed) return { n, item: '{}', sample: null, error: parsed.error }
  const sample = parsed.sample === null ? null : JSON.stringify(parsed.sample)
  return { n, item: JSON.stringify(parsed.item), sample, error: null }
}

async function checkItems(
  use: Pick<LoadRowsUses, 'itemSchemas'>,
  schema: Record<string, unknown>,
  rows: readonly NewRow[],
  sound: readonly { readonly at: number; readonly row: SoundRow }[],
): Promise<NewRow[]> {
  const reasons = await use.itemSchemas.check(
    schema,
    sound.map(({ row }) => row.item),
  )
  const checked = [...rows]
  for (const [index, { at, row }] of sound.entries()) {
    const reason = reasons[index]
    const written = checked[at]
    if (reason == null || written === undefined) continue
    checked[at] = { ...written, error: { code: 'item_schema_mismatch', message: `${row.name}: ${reason}` } }
  }
  return checked
}

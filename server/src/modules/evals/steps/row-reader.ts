import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import { assert } from '#platform/std/assert.ts'
import { readRows, type GradedRow } from '../store/rows.ts'
import type { EvalsTables } from '../store/tables.ts'

const rowsPerStatement = 50
const statementsAtOnce = 2

/** Reads rows when their turn comes, those of many slots in one statement: a chunk of large items is never in memory whole. */
export class RowReader {
  readonly #gathered: Gathered<{ runId: string; n: number }, GradedRow>

  constructor(db: Db<EvalsTables>) {
    this.#gathered = new Gathered(
      async (asks) => {
        const rows = await readRows(db, asks)
        const byName = new Map(rows.map(({ run_id: runId, ...row }) => [`${runId}:${row.n}`, row]))
        return asks.map(({ runId, n }) => {
          const row = byName.get(`${runId}:${n}`)
          assert(row !== undefined, 'a row of a chunk is there for as long as its run')
          return row
        })
      },
      { batchMax: rowsPerStatement, atOnceMax: statementsAtOnce },
    )
  }

  read(runId: string, n: number): Promise<GradedRow> {
    return this.#gathered.ask({ runId, n })
  }
}

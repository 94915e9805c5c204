import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import { Superseded } from '#platform/durable/step-over.ts'
import { readRows, type GradedRow } from '../store/rows.ts'
import type { EvalsTables } from '../store/tables.ts'

const rowsPerStatement = 50
const statementsAtOnce = 2

/** Reads rows when their turn comes, those of many slots in one statement: a chunk of large items is never in memory whole. */
export class RowReader {
  readonly #gathered: Gathered<{ runId: string; n: number }, GradedRow | null>

  constructor(db: Db<EvalsTables>) {
    this.#gathered = new Gathered(
      async (asks) => {
        const rows = await readRows(db, asks)
        const byName = new Map(rows.map(({ run_id: runId, ...row }) => [`${runId}:${row.n}`, row]))
        return asks.map(({ runId, n }) => byName.get(`${runId}:${n}`) ?? null)
      },
      { batchMax: rowsPerStatement, atOnceMax: statementsAtOnce },
    )
  }

  /** Throws `Superseded` when it went with its run: those of other runs that are read beside it are not concerned. */
  async read(runId: string, n: number): Promise<GradedRow> {
    const row = await this.#gathered.ask({ runId, n })
    if (row === null) throw new Superseded('the run of this row was deleted')
    return row
  }
}

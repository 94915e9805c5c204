import { Client } from 'pg'
import { becomesTrue } from '../../../dev/engines/wait-until.ts'

const WAIT_BOUND_MS = 10_000

export interface HeldInserts {
  /** Resolves once a request of the server waits for the table. */
  someoneWaits(): Promise<void>
  release(): Promise<void>
}

/** Keeps anyone from inserting into a table, as a slow disk would, until released. */
export async function holdInserts(postgresUrl: string, table: string): Promise<HeldInserts> {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query(`begin; lock table ${table} in share row exclusive mode`)
  let released: Promise<void> | null = null
  const waits = async () => {
    const { rows } = await client.query<{ waiting: string }>(
      `select count(*) as waiting from pg_locks where relation = $1::regclass and not granted`,
      [table],
    )
    return Number(rows[0]?.waiting) > 0
  }
  return {
    async someoneWaits() {
      if (!(await becomesTrue(waits, WAIT_BOUND_MS))) throw new Error(`nobody waits for ${table}`)
    },
    release: async () => await (released ??= client.query('rollback').then(async () => await client.end())),
  }
}

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'

const logged = /LOG: {2}(statement|execute [^:]*): /g

/** How many statements reach the database of a temporary stack while the work is done, by its own log. */
export async function countStatements(url: string, work: () => Promise<void>): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const set = async (level: 'all' | 'none') => {
    await client.query(`alter system set log_statement = '${level}'`)
    await client.query('select pg_reload_conf()')
  }
  try {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory')
    const file = join(dirname(rows[0]?.data_directory ?? ''), 'postgres.log')
    const count = () => readFileSync(file, 'utf8').match(logged)?.length ?? 0
    await set('all')
    const before = count()
    await work()
    const sent = count() - before
    await set('none')
    return sent
  } finally {
    await client.end()
  }
}

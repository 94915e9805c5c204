import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxFleet } from '../sandbox-fleet.ts'
import type { Store } from './search.ts'
import { unpackWal } from './unpack-wal.ts'

const rowsMax = 500_000

/** Every table of every schema of ours, each row as text. */
export async function lookAtTables({ db }: SandboxFleet, store: Store): Promise<string> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
  )
  let count = 0
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t limit ${rowsMax}`)
    count += rows.length
    store.lookText(rows.map(({ row }) => row).join('\n'), `table ${name}`)
  }
  return `${tables.length} tables, ${count} rows`
}

const restateTables = ['sys_journal', 'sys_journal_events', 'sys_invocation', 'sys_inbox', 'state', 'sys_promise']

/** What Restate itself says that it holds. */
export async function lookAtJournal({ stack }: SandboxFleet, store: Store): Promise<void> {
  for (const table of restateTables) {
    const reply = await fetch(`${stack.restate.adminUrl}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: `select * from ${table}` }),
    })
    store.lookText(await reply.text(), `${table} of Restate`)
  }
}

/** Its files as they are, and what its write-ahead logs hold. */
export async function lookAtEngine({ folder }: SandboxFleet, store: Store): Promise<void> {
  const disk = join(folder, 'stack', 'restate')
  await store.lookFolder(disk)
  for (const name of await readdir(disk, { recursive: true })) {
    if (!/\d+\.log$/.test(name)) continue
    for (const record of unpackWal(await readFile(join(disk, name)))) store.look(record, name)
  }
}

export const logsOf = async ({ folder }: SandboxFleet): Promise<string[]> => {
  const folders = ['nodes', 'docker', 'stack/postgres', 'stack/valkey', 'stack/restate', 'stack', 'hosts/1/egress']
  const found: string[] = []
  for (const name of folders) {
    const names = await readdir(join(folder, name)).catch(() => [])
    found.push(...names.filter((file) => file.endsWith('.log')).map((file) => join(folder, name, file)))
  }
  return found
}

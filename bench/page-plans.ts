import type { ProjectId } from '@switchyard/contracts/ids.ts'
import pg from 'pg'
import { listFiles, type FilesPage } from '../server/src/modules/files/store/files.ts'
import { filteredPurpose } from './fill-files.ts'
import { sentStatement } from './sent-statement.ts'

export interface PlannedTable {
  readonly url: string
  readonly projectId: string
  readonly cursors: readonly string[]
}

const limits = [20, 100]
/** PostgreSQL decides after five runs whether to go on with one plan for all parameters. */
const runsBeforeChoice = 7

/**
 * Every shape of the list, as a connection runs it once it has settled on a plan: an index gives the rows in order, and
 * reading stops with the page. A sort, or a scan of the table, would grow with the project.
 */
export async function checkPlans(table: PlannedTable): Promise<void> {
  const cursor = table.cursors[Math.floor(table.cursors.length / 2)]
  const client = new pg.Client({ connectionString: table.url })
  await client.connect()
  try {
    for (const order of ['asc', 'desc'] as const)
      for (const after of [undefined, cursor])
        for (const purpose of [undefined, filteredPurpose])
          for (const limit of limits) await checkPlan(client, table, { order, after, purpose, limit })
  } finally {
    await client.end()
  }
}

async function checkPlan(client: pg.Client, table: PlannedTable, page: FilesPage): Promise<void> {
  const { text } = await sentStatement((db) => listFiles(db, table.projectId as ProjectId, page))
  const values = [table.projectId as ProjectId, page.limit + 1, page.purpose ?? null, page.after ?? null]
  const given = values.map((value) => (typeof value === 'string' ? client.escapeLiteral(value) : String(value)))
  await client.query(`prepare page (text, bigint, text, text) as ${text}`)
  for (let runs = 0; runs < runsBeforeChoice; runs += 1) await client.query(`execute page (${given.join(', ')})`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off) execute page (${given.join(', ')})`,
  )
  await client.query('deallocate page')
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  if (/Sort|Seq Scan|Bitmap/.test(plan) || !/Index Scan/.test(plan)) {
    throw new Error(`the page ${JSON.stringify(page)} is not read off an index:\n${plan}`)
  }
}

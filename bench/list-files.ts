/**
 * A page of GET /v1/files from a project of millions of files, in a table where others have as many, against the same
 * page from a table of thousands. Each table is a database of its own with an api process of its own, on one PostgreSQL;
 * they are asked in turn, and the median of the rounds' ratios is the figure.
 */
import { mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { migrate } from '#platform/db/migrate.ts'
import { freePort } from '../dev/engines/free-port.ts'
import { seed } from '../dev/seed.ts'
import { startServerNode } from '../dev/server-node.ts'
import { migrationsFolder } from '../server/src/migrations-folder.ts'
import { withBench, type Bench, type BenchOptions } from './bench-stack.ts'
import { median, type Figure } from './figure.ts'
import { fillFiles, filteredPurpose } from './fill-files.ts'
import { checkPlans } from './page-plans.ts'

export interface ListFilesSize extends BenchOptions {
  readonly rounds: number
  readonly seconds: number
  readonly filesLarge: number
  readonly filesSmall: number
}

/** Few, so that the page is measured and not the queue in front of it. */
const connections = 4
/** Pages start after one of this many files, spread over the whole project. */
const cursorsTotal = 1_000
const smallDatabase = 'bench_small'
const pageTarget = { atMost: 1.5 }

interface Table {
  readonly url: string
  readonly projectId: string
  readonly key: string
  readonly port: number
  readonly cursors: readonly string[]
}

interface Shape {
  readonly name: string
  readonly limit: number
  readonly deep: boolean
  readonly purpose?: string
}

const shapes: readonly Shape[] = [
  { name: 'first page of 20', limit: 20, deep: false },
  { name: 'first page of 100', limit: 100, deep: false },
  { name: 'deep page of 20', limit: 20, deep: true },
  { name: 'deep page of 100', limit: 100, deep: true },
  { name: 'deep page of 100 of a purpose', limit: 100, deep: true, purpose: filteredPurpose },
]

export async function benchListFiles(size: ListFilesSize, say: (line: string) => void): Promise<Figure[]> {
  return await withBench(size, async (bench) => {
    const small = await openSmall(bench, size)
    const large = await openLarge(bench, size, say)
    await checkPlans(large)
    return await compareShapes(bench, large, small, size, say)
  })
}

async function openLarge(
  { stack, postgresUrl: url }: Bench,
  size: ListFilesSize,
  say: (line: string) => void,
): Promise<Table> {
  const { projectId, projectKey: key } = stack.seeded
  const progress = (rows: number) => say(`list-files: ${rows} rows`)
  await fillFiles({ url, projectId, filesTotal: size.filesLarge, othersPerFile: 1 }, progress)
  return { url, projectId, key, port: stack.httpPort, cursors: await someCursors(url, projectId) }
}

async function openSmall({ stack, postgresUrl, nodesFolder, twins }: Bench, size: ListFilesSize): Promise<Table> {
  const url = await createDatabase(postgresUrl, smallDatabase)
  await migrate({ url, folder: migrationsFolder })
  const dataDir = dirname(nodesFolder)
  const port = await freePort()
  const node = await startServerNode({
    name: 'small',
    roles: 'api',
    dataDir,
    internalPort: await freePort(),
    env: { ...stack.env, SWITCHYARD_POSTGRES_URL: url, SWITCHYARD_HTTP_PORT: String(port), SWITCHYARD_TLS_PORT: '0' },
  })
  twins.push(node.process)
  await node.waitReady()
  const { projectId, projectKey: key } = await seed({
    tier: 'unlimited',
    postgresUrl: url,
    dataDir: mkdtempSync(join(dataDir, 'small-')),
  })
  await fillFiles({ url, projectId, filesTotal: size.filesSmall, othersPerFile: 0 })
  return { url, projectId, key, port, cursors: await someCursors(url, projectId) }
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Files from anywhere but the oldest tenth, so that a whole page of each shape follows. */
async function someCursors(url: string, projectId: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(
      `with span as (
         select min(created_at) as oldest, max(created_at) as newest from files.file where project_id = $1
       )
       select at.id from span, generate_series(1, $2::integer) as n
       cross join lateral (
         select id from files.file where project_id = $1 and ended_at is null
           and created_at >= oldest + (newest - oldest) * (0.1 + 0.9 * n / $2)
         order by created_at, id limit 1
       ) as at`,
      [projectId, cursorsTotal],
    )
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}

function pathsOf(shape: Shape, table: Table): string[] {
  const purpose = shape.purpose === undefined ? '' : `&purpose=${shape.purpose}`
  const first = `/v1/files?limit=${shape.limit}${purpose}`
  return shape.deep ? table.cursors.map((cursor) => `${first}&after=${cursor}`) : [first]
}

async function compareShapes(
  { generator }: Bench,
  large: Table,
  small: Table,
  size: ListFilesSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const ask = async (table: Table, shape: Shape) =>
    (await generator.run({ ...table, paths: pathsOf(shape, table), connections, seconds: size.seconds })).p50Ms
  const rounds = shapes.map((): { large: number; small: number }[] => [])
  // The first round brings code, connections and caches up to speed and is not counted.
  for (let count = 0; count <= size.rounds; count += 1) {
    for (const [at, shape] of shapes.entries()) {
      const largeFirst = count % 2 === 0
      const one = await ask(largeFirst ? large : small, shape)
      const other = await ask(largeFirst ? small : large, shape)
      if (count > 0) rounds[at]?.push(largeFirst ? { large: one, small: other } : { large: other, small: one })
    }
    say(`list-files: round ${count} of ${size.rounds}`)
  }
  return shapes.map((shape, at) => {
    const done = rounds[at] ?? []
    const side = (which: 'large' | 'small') => median(done.map((round) => round[which])).toFixed(2)
    return {
      name: `list-files p50, ${shape.name}`,
      ratio: median(done.map((round) => round.large / round.small)),
      target: pageTarget,
      measured: `${side('large')} : ${side('small')} ms`,
    }
  })
}

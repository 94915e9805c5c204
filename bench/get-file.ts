/**
 * Authenticated GET /v1/files/{id} against a bare route that asks the database the same two questions. Twins run in turn
 * on one database, under the same load from a process of its own; each round gives one ratio, the median of the rounds
 * is the figure.
 */
import assert from 'node:assert/strict'
import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import pg from 'pg'
import { settings } from '#platform/config/settings.ts'
import { freePort } from '../dev/engines/free-port.ts'
import { startProcess } from '../dev/engines/process.ts'
import { findFile } from '../server/src/modules/files/store/files.ts'
import { findKeyInForce } from '../server/src/modules/orgs/store/authentication.ts'
import type { BareOptions } from './bare-get-file.ts'
import { withBench, type Bench, type BenchOptions } from './bench-stack.ts'
import type { Figure } from './figure.ts'
import { fillFiles } from './fill-files.ts'
import { figureOf, inTurn, type Measured, type Round, type Rounds, type Twin } from './in-turn.ts'
import { sentStatement } from './sent-statement.ts'

export interface GetFileSize extends BenchOptions, Omit<Rounds, 'label'> {
  readonly filesTotal: number
}

const connections = 32
const askedFiles = 1_000
const readyBoundMs = 20_000
const bareMain = fileURLToPath(new URL('bare-get-file.ts', import.meta.url))

interface Served {
  readonly port: number
  readonly pid: number
}

export async function benchGetFile(size: GetFileSize, say: (line: string) => void): Promise<Figure[]> {
  return await withBench(size, async (bench) => {
    const { stack, postgresUrl } = bench
    const { projectId, projectKey: key } = stack.seeded
    await fillFiles({ url: postgresUrl, projectId, filesTotal: size.filesTotal, othersPerFile: 0 })
    const paths = (await someFiles(postgresUrl, projectId)).map((id) => `/v1/files/${id}`)
    const bare = await startBare(bench)
    const ours: Served = { port: stack.httpPort, pid: stack.nodes[0]?.process.pid ?? 0 }
    await answersAreEqual([ours, bare], key, paths)
    const twin = (name: string, { port, pid }: Served): Twin => ({
      name,
      pids: [pid],
      load: { port, key, paths, connections },
    })
    const twins = [twin('ours', ours), twin('bare', bare)]
    return figuresOf(await inTurn(bench, twins, { ...size, label: 'get-file' }, say))
  })
}

async function someFiles(url: string, projectId: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ id: string }>(
      'select id from files.file where project_id = $1 order by md5(id) limit $2',
      [projectId, askedFiles],
    )
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}

async function startBare({ postgresUrl, nodesFolder, twins }: Bench): Promise<Served> {
  const options: BareOptions = {
    port: await freePort(),
    postgresUrl,
    connectionsMax: settings.SWITCHYARD_POSTGRES_CONNECTIONS_MAX.schema.parse(undefined),
    findKey: await sentStatement((db) => findKeyInForce(db, Buffer.alloc(0))),
    findFile: await sentStatement((db) => findFile(db, '' as ProjectId, '' as FileId)),
  }
  const supervised = await startProcess(process.execPath, [bareMain], {
    name: 'bare',
    logFile: join(nodesFolder, 'bare.log'),
    pidFile: join(nodesFolder, 'bare.pid'),
    env: { ...process.env, BENCH_OPTIONS: JSON.stringify(options) },
  })
  twins.push(supervised)
  const answers = async () => (await fetch(`http://127.0.0.1:${options.port}/v1/files/none`)).status === 401
  await supervised.waitReady(answers, readyBoundMs)
  return { port: options.port, pid: supervised.pid }
}

/** A twin that answered something else would be compared in vain. */
async function answersAreEqual(twins: readonly Served[], key: string, paths: readonly string[]): Promise<void> {
  const bodies = await Promise.all(
    twins.map(async ({ port }) => {
      const reply = await fetch(`http://127.0.0.1:${port}${paths[0]}`, { headers: { authorization: `Bearer ${key}` } })
      return { status: reply.status, body: await reply.text() }
    }),
  )
  assert.deepEqual(bodies[0], bodies[1])
  assert.equal(bodies[0]?.status, 200)
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const figure = (name: string, unit: string, digits: number, pick: (side: Measured) => number) =>
    figureOf(rounds, { name: `get-file ${name}`, unit, digits }, pick)
  return [
    { ...figure('throughput', 'requests/s', 0, ({ perSecond }) => perSecond), target: { atLeast: 0.7 } },
    { ...figure('p99', 'ms', 2, ({ p99Ms }) => p99Ms), target: { atMost: 1.5 } },
    { ...figure('p50', 'ms', 2, ({ p50Ms }) => p50Ms), target: null },
    { ...figure('server CPU per request', 'us', 0, ({ cpuMicros }) => cpuMicros), target: null },
  ]
}

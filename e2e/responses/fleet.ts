import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OpenAI } from 'openai'
import pg from 'pg'
import { startServerNode, type ServerNode } from '../../dev/server-node.ts'
import { freePort } from '../../dev/engines/free-port.ts'
import { recordProcess, signalProcess } from '../../dev/processes.ts'
import type { Stack } from '../../dev/stack.ts'
import { startProviderDouble, type ProviderDouble } from '../../server/test/provider-double.ts'
import { writeDoubleModels } from '../../server/test/double-models.ts'
import { startTemporaryStack } from '../temporary-stack.ts'
import { openLedger, type LedgerReport } from './ledger-shell.ts'

export interface FleetOptions {
  readonly api: number
  readonly worker: number
  /** Each api node listens on a port of its own; otherwise they share one. */
  readonly apart?: boolean
  readonly shellLastsMs?: number
  /** The first api node can be asked for its memory. */
  readonly inspected?: boolean
  readonly settings?: Readonly<Record<string, string>>
}

export type ApiOrWorker = 'api' | 'worker'

const program = fileURLToPath(new URL('node.ts', import.meta.url))
const retriesMax = 10
const shellLastsMs = 200

/** Engines of its own, server nodes with a hosted shell, and a model provider that this process answers for. */
export class Fleet {
  readonly stack: Stack
  readonly double: ProviderDouble
  readonly db: pg.Pool
  readonly ledger: () => LedgerReport
  readonly nodes: ServerNode[] = []
  readonly inspectorPort: number
  readonly #folder: string
  readonly #ports: number[]
  readonly #interrupt = () => {
    for (const { process: one } of this.nodes) if (one.running) signalProcess(one.pid, 'SIGKILL')
  }

  private constructor(
    stack: Stack,
    double: ProviderDouble,
    { folder, ports, inspectorPort }: { folder: string; ports: number[]; inspectorPort: number },
  ) {
    this.stack = stack
    this.inspectorPort = inspectorPort
    this.double = double
    this.#folder = folder
    this.#ports = ports
    this.ledger = openLedger(join(folder, 'ledger'))
    this.db = new pg.Pool({ connectionString: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', max: 4 })
    // PostgreSQL is killed under it.
    this.db.on('error', () => undefined)
    this.db.on('connect', (client) => client.on('error', () => undefined))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#interrupt)
  }

  static async start(options: FleetOptions): Promise<Fleet> {
    // Named and owned as the folders of temporary stacks are: the next run ends and removes what a killed one left.
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-e2e-'))
    recordProcess(join(folder, 'owner.pid'), process.pid)
    const double = await startProviderDouble()
    const stack = await startTemporaryStack({
      nodes: {},
      settings: {
        SWITCHYARD_LOG_LEVEL: 'warn',
        SWITCHYARD_TLS_PORT: '0',
        SWITCHYARD_HTTP_REUSE_PORT: 'true',
        SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url),
        SHELL_LEDGER_DIR: join(folder, 'ledger'),
        SHELL_LASTS_MS: String(options.shellLastsMs ?? shellLastsMs),
        ...options.settings,
      },
    })
    const ports = await Promise.all(
      Array.from({ length: options.api }, async () => (options.apart === true ? await freePort() : stack.httpPort)),
    )
    const inspectorPort = options.inspected === true ? await freePort() : 0
    const fleet = new Fleet(stack, double, { folder, ports, inspectorPort })
    try {
      for (let index = 0; index < options.worker; index += 1) await fleet.#startNode('worker', index)
      for (let index = 0; index < options.api; index += 1) await fleet.#startNode('api', index)
      await Promise.all(fleet.nodes.map((node) => node.waitReady()))
      return fleet
    } catch (error) {
      await fleet.stop()
      throw error
    }
  }

  async #startNode(roles: ApiOrWorker, index: number): Promise<void> {
    const port = roles === 'api' ? { SWITCHYARD_HTTP_PORT: String(this.#ports[index]) } : {}
    const inspected = roles === 'api' && index === 0 && this.inspectorPort > 0
    const inspector = inspected ? { NODE_OPTIONS: `--inspect=127.0.0.1:${this.inspectorPort}` } : {}
    this.nodes.push(
      await startServerNode({
        name: `${roles} ${index + 1}`,
        roles,
        dataDir: this.#folder,
        internalPort: await freePort(),
        env: { ...this.stack.env, ...port, ...inspector },
        program,
      }),
    )
  }

  of(roles: ApiOrWorker, index: number): ServerNode {
    const found = this.nodes.filter((node) => node.roles === roles)[index]
    if (found === undefined) throw new Error(`there is no ${roles} ${index + 1}`)
    return found
  }

  /** The official SDK, talking to one api node; with a shared port, to any. */
  client(index = 0, maxRetries = retriesMax): OpenAI {
    return new OpenAI({
      baseURL: `http://127.0.0.1:${this.#ports[index]}/v1`,
      apiKey: this.stack.seeded.projectKey,
      adminAPIKey: this.stack.seeded.adminKey,
      maxRetries,
    })
  }

  /** Whether every api node has a port of its own. */
  get apart(): boolean {
    return new Set(this.#ports).size === this.#ports.length
  }

  portOf(index = 0): number {
    return this.#ports[index] ?? 0
  }

  async stop(): Promise<void> {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#interrupt)
    await this.db.end()
    for (const node of this.nodes) await node.process.kill9()
    await this.stack.stop()
    await this.double.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

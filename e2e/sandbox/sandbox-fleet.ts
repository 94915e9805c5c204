import { chmodSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { OpenAI } from 'openai'
import pg from 'pg'
import { startDocker, type DockerEngine } from '../../dev/engines/docker.ts'
import { freePort } from '../../dev/engines/free-port.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { startServerNode, type ServerNode } from '../../dev/server-node.ts'
import { startStack, type Stack } from '../../dev/stack.ts'
import { ensureImage } from '../../sandbox/runtime/ensure-image.ts'
import { writeDoubleModels } from '../../server/test/double-models.ts'
import { startProviderDouble, type ProviderDouble } from '../../server/test/provider-double.ts'
import { makeFleetFolder, removeFleetFolder } from './fleet-folder.ts'

export interface SandboxFleetOptions {
  readonly runtime: string
  readonly hosts: number
  readonly image?: 'slim' | 'full'
  readonly settings?: Readonly<Record<string, string>>
}

/** A sandbox host: a process with a folder of its own, on the fleet's engine. */
export interface Host {
  readonly node: ServerNode
  readonly dir: string
  readonly id: string
}

export const poolSize = 2
/** What a host promises; far more than there is, because most of it stays unused. */
const hostMemoryMb = 1_000_000
export const favouredMemoryMb = 2 * hostMemoryMb
const retriesMax = 10
const hostUpMs = 60_000
const interrupted = { SIGINT: 130, SIGTERM: 143 } as const

/** Engines of its own, Docker among them, server processes by role, and a model provider that this process answers for. */
export class SandboxFleet {
  readonly folder: string
  readonly docker: DockerEngine
  readonly stack: Stack
  readonly double: ProviderDouble
  readonly db: pg.Pool
  readonly hosts: Host[] = []
  readonly nodes: ServerNode[] = []
  readonly #env: NodeJS.ProcessEnv
  #stopping: Promise<void> | null = null
  readonly #interrupt = (signal: NodeJS.Signals) => {
    const leave = () => process.exit(interrupted[signal as keyof typeof interrupted])
    this.stop().then(leave, leave)
  }

  private constructor(made: {
    folder: string
    docker: DockerEngine
    stack: Stack
    double: ProviderDouble
    env: NodeJS.ProcessEnv
  }) {
    this.folder = made.folder
    this.docker = made.docker
    this.stack = made.stack
    this.double = made.double
    this.#env = made.env
    this.db = new pg.Pool({ connectionString: made.stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', max: 4 })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#interrupt)
  }

  static async start(options: SandboxFleetOptions): Promise<SandboxFleet> {
    const folder = await makeFleetFolder()
    try {
      const double = await startProviderDouble()
      const settings = {
        SWITCHYARD_LOG_LEVEL: 'info',
        SWITCHYARD_TLS_PORT: '0',
        SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url),
        SWITCHYARD_CONTAINERS_ACTIVE_MAX: '10000',
        SWITCHYARD_SANDBOX_RUNTIME: options.runtime,
        SWITCHYARD_SANDBOX_POOL: String(poolSize),
        SWITCHYARD_SANDBOX_DISK_MB_MAX: '16',
        ...options.settings,
      }
      const stackDir = join(folder, 'stack')
      await mkdir(stackDir)
      chmodSync(stackDir, 0o755)
      const [stack, [docker, image]] = await Promise.all([
        startStack({ dataDir: stackDir, nodes: {}, settings }),
        startEngine(join(folder, 'docker'), options.image ?? 'slim'),
      ])
      const env = { ...stack.env, SWITCHYARD_SANDBOX_DOCKER_SOCKET: docker.socket, SWITCHYARD_SANDBOX_IMAGE: image }
      const fleet = new SandboxFleet({ folder, docker, stack, double, env })
      for (const roles of ['worker', 'api']) fleet.nodes.push(await fleet.#startNode(`${roles} 1`, roles, {}))
      for (let index = 0; index < options.hosts; index += 1) await fleet.addHost()
      await Promise.all(fleet.nodes.map((node) => node.waitReady()))
      return fleet
    } catch (error) {
      await removeFleetFolder(folder)
      throw error
    }
  }

  async #startNode(name: string, roles: string, env: NodeJS.ProcessEnv): Promise<ServerNode> {
    const internalPort = await freePort()
    return await startServerNode({ name, roles, dataDir: this.folder, internalPort, env: { ...this.#env, ...env } })
  }

  /** One more host. With more memory than the others it is given all work. */
  async addHost(memoryMb = hostMemoryMb, env: NodeJS.ProcessEnv = {}): Promise<Host> {
    const name = `sandbox ${this.hosts.length + 1}`
    const dir = join(this.folder, 'hosts', String(this.hosts.length + 1))
    const node = await this.#startNode(name, 'sandbox', {
      SWITCHYARD_SANDBOX_DIR: dir,
      SWITCHYARD_SANDBOX_MEMORY_MB: String(memoryMb),
      ...env,
    })
    await node.waitReady()
    const readId = () => readFileSync(join(dir, 'host-id'), 'utf8').trim()
    const known = async () => {
      const { rows } = await this.db.query('select 1 from containers.host where id = $1', [readId()])
      return rows.length > 0
    }
    if (!(await becomesTrue(known, hostUpMs))) throw new Error(`${name} has not said that it is there`)
    const host = { node, dir, id: readId() }
    this.hosts.push(host)
    return host
  }

  of(roles: 'api' | 'worker'): ServerNode {
    const found = this.nodes.find((node) => node.roles === roles)
    if (found === undefined) throw new Error(`there is no ${roles}`)
    return found
  }

  client(maxRetries = retriesMax): OpenAI {
    return new OpenAI({
      baseURL: `http://127.0.0.1:${this.stack.httpPort}/v1`,
      apiKey: this.stack.seeded.projectKey,
      adminAPIKey: this.stack.seeded.adminKey,
      maxRetries,
    })
  }

  /** Once, whoever asks: the end of a run and an interruption may meet. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    await this.#stopping
  }

  async #stop(): Promise<void> {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#interrupt)
    await this.db.end()
    for (const { process: one } of [...this.nodes, ...this.hosts.map(({ node }) => node)]) await one.kill9()
    await this.docker.stop()
    await this.stack.stop()
    await this.double.close()
    await removeFleetFolder(this.folder)
  }
}

async function startEngine(dataDir: string, image: 'slim' | 'full'): Promise<[DockerEngine, string]> {
  const docker = await startDocker({ dataDir })
  return [docker, await ensureImage(image, docker.socket)]
}

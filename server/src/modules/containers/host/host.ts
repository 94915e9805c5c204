import { readFile, writeFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Files } from '#modules/files/index.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { createEngineApi, type EngineApi } from '#platform/docker/engine-api.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Part, Readiness } from '#platform/lifecycle/module.ts'
import type { MeshAnswer, MeshCall, MeshCommand, MeshCommands } from '#platform/mesh/command.ts'
import { MeshListener } from '#platform/mesh/listener.ts'
import type { Mesh } from '#platform/mesh/mesh.ts'
import { sleep } from '#platform/std/clock.ts'
import { newId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { EgressFailed } from '../egress/client.ts'
import { listEndedOfHost, loseContainer, markCleared } from '../store/ended-containers.ts'
import { listLiveOfHost, sayHost } from '../store/hosts.ts'
import type { ContainersTables } from '../store/tables.ts'
import { Boxes, hostLabel } from './boxes.ts'
import { EgressLink } from './egress-link.ts'
import { Executor } from './execute.ts'
import { fillBox } from './fill-box.ts'
import { listBoxFiles, writeBoxFile } from './host-files.ts'
import { unlessAway } from './unless-away.ts'
import {
  hostCommands,
  type CancelInput,
  type ExecuteInput,
  type FileInput,
  type ParkInput,
  type WriteInput,
} from './wire.ts'

export interface HostSettings {
  readonly dir: string
  readonly dockerSocket: string
  readonly image: string
  /** `auto`: gVisor where the engine has it, runc elsewhere. */
  readonly runtime: string
  /** What containers may be promised together; null: the engine's memory times the overcommit. */
  readonly memoryBytes: number | null
  readonly overcommit: number
  readonly cpus: number
  readonly processes: number
  readonly poolSize: number
  readonly diskBytesMax: number
  readonly meshHost: string
  readonly meshPort: number
  /** How other processes reach this one; null: the address and port it listens on. */
  readonly meshUrl: string | null
  readonly egressResolver: string | null
  readonly egressAddresses: readonly string[]
  /** What the proxy's process gets to see. */
  readonly egressEnvironment: Readonly<Record<string, string>>
}

export interface HostUses {
  readonly db: Db<ContainersTables>
  readonly blobs: Blobs
  readonly files: Pick<Files, 'open'>
  readonly orgs: Pick<Orgs, 'networkPolicy'>
  readonly mesh: Mesh
  readonly meshKeys: readonly Buffer[]
  readonly log: Log
  readonly settings: HostSettings
}

const poolMemoryBytes = 1024 ** 3
const commandUid = 1_000
const roundMs = 1_000
const heartbeatMs = 3_000
const retryMs = 2_000
const reconcileMs = 10_000
const clearBatch = 100
const clearsAtOnce = 4

/** The role `sandbox`: containers of this machine, for whoever in the deployment asks. */
export function sandboxHost(use: HostUses): Part {
  const host = new SandboxHost(use)
  return {
    name: 'sandbox host',
    start: () => host.start(),
    drain: () => host.drain(),
    stop: () => host.stop(),
    ready: async () => host.readiness(),
  }
}

class SandboxHost {
  readonly #use: HostUses
  readonly #engine: EngineApi
  readonly #listener: MeshListener
  readonly #ending = new AbortController()
  readonly #uid = process.getuid?.() === 0 ? commandUid : (process.getuid?.() ?? commandUid)
  #id = ''
  #url = ''
  #memoryBytes = 0
  #boxes: Boxes | null = null
  #egress: EgressLink | null = null
  #executor: Executor | null = null
  #trouble: string | null = 'starting'
  #loop: Promise<void> | null = null
  #clearing: Promise<void> = Promise.resolve()
  #heartbeat: NodeJS.Timeout | null = null
  #draining = false
  #reconciledAt = 0

  constructor(use: HostUses) {
    this.#use = use
    this.#engine = createEngineApi(use.settings.dockerSocket)
    this.#listener = new MeshListener({ commands: this.#commands(), keys: use.meshKeys, log: use.log })
  }

  async start(): Promise<void> {
    const { settings, mesh } = this.#use
    await mkdir(settings.dir, { recursive: true, mode: 0o711 })
    this.#id = await readHostId(settings.dir)
    const port = await this.#listener.listen(settings.meshHost, settings.meshPort)
    this.#url = settings.meshUrl ?? `http://${settings.meshHost}:${port}`
    mesh.serve(this.#id, this.#commands())
    await this.#open().catch((error: unknown) => this.#note(error))
    this.#loop = this.#work()
    // On its own: a round that takes long must not look like a host that is gone.
    this.#heartbeat = setInterval(() => {
      if (this.#boxes !== null) this.#say().catch((error: unknown) => this.#note(error))
    }, heartbeatMs)
  }

  readiness(): Readiness {
    if (this.#trouble !== null) return { ok: true, degraded: `hosted shell unavailable: ${this.#trouble}` }
    const pool = `${this.#boxes?.claimed.size ?? 0} containers, ${this.#boxes?.waiting ?? 0} waiting`
    return this.#uid === commandUid && process.getuid?.() === 0
      ? { ok: true, detail: pool }
      : { ok: true, degraded: `${pool}; without root there is no disk quota` }
  }

  async drain(): Promise<void> {
    this.#draining = true
    if (this.#boxes !== null) await this.#say().catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    clearInterval(this.#heartbeat ?? undefined)
    await this.#loop
    await this.#listener.close()
    await this.#egress?.end()
    await this.#boxes?.end()
  }

  /** Finds the engine and takes up what is there. Throws, and is tried again, while the engine is away. */
  async #open(): Promise<void> {
    const { settings, log, db } = this.#use
    const info = await this.#engine.info()
    const runtime =
      settings.runtime === 'auto' ? (info.runtimes.includes('runsc') ? 'runsc' : 'runc') : settings.runtime
    if (!info.runtimes.includes(runtime)) throw new Error(`the Docker engine has no runtime ${runtime}`)
    if (!(await this.#engine.hasImage(settings.image))) {
      throw new Error(
        `the Docker engine has no image ${settings.image}; build it as docs/guides/hosting-containers.md says`,
      )
    }
    this.#memoryBytes = settings.memoryBytes ?? Math.floor(info.memoryBytes * settings.overcommit)
    const egress = new EgressLink({
      db,
      orgs: this.#use.orgs,
      engine: this.#engine,
      log,
      hostId: this.#id,
      folder: join(settings.dir, 'egress'),
      settings: {
        ...(settings.egressResolver === null ? {} : { resolver: settings.egressResolver }),
        addressesAllowed: settings.egressAddresses,
      },
      environment: settings.egressEnvironment,
    })
    const fill = { blobs: this.#use.blobs, files: this.#use.files, uid: this.#uid }
    const boxes = new Boxes({
      engine: this.#engine,
      log,
      hostId: this.#id,
      dir: settings.dir,
      image: settings.image,
      runtime,
      limits: { cpus: settings.cpus, processes: settings.processes },
      uid: this.#uid,
      quota: process.getuid?.() === 0,
      poolSize: settings.poolSize,
      poolMemoryBytes,
      diskBytesMax: settings.diskBytesMax,
      fill: async (box, order) => {
        await fillBox(fill, box, order)
        await egress.attach(box, order).catch((error: unknown) => this.#loseSecrets(order.containerId, error))
      },
      adopt: (box, order) => egress.attach(box, order),
      release: (containerId) => egress.detach(containerId),
    })
    const found = await boxes.recover(await listLiveOfHost(db, this.#id))
    for (const id of found.lost) await loseContainer(db, id, 'The machine that it was on has been started anew.')
    this.#egress = egress
    this.#boxes = boxes
    this.#executor = new Executor(
      { engine: this.#engine, uid: this.#uid, revive: (box, options) => boxes.revive(box, options) },
      (order) => boxes.claim(order),
      (containerId) => boxes.claimed.get(containerId),
    )
    await this.#say()
    boxes.fillPool()
    this.#trouble = null
    log.info({ host: this.#id, runtime, image: settings.image, docker: info.version, ...found }, 'sandbox host up')
  }

  /** Every second: deletes what the records say is over, and looks after the way out. */
  async #work(): Promise<void> {
    const watching = this.#watch()
    while (!this.#ending.signal.aborted) {
      try {
        if (this.#boxes === null) await this.#open()
        await this.#clear()
        await this.#reconcile()
        await this.#egress?.tick()
        this.#boxes?.fillPool()
        this.#trouble = null
        await sleep(roundMs, this.#ending.signal)
      } catch (error) {
        this.#note(error)
        await sleep(retryMs, this.#ending.signal)
      }
    }
    await watching
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      try {
        await this.#engine.watch(`${hostLabel}=${this.#id}`, (event) => this.#boxes?.note(event), signal)
      } catch (error) {
        this.#use.log.debug({ err: error }, 'events of the engine are not heard')
      }
      if (signal.aborted) return
      await sleep(retryMs, signal)
      // Whatever happened while nobody listened.
      await this.#boxes?.check().catch(() => undefined)
    }
  }

  #note(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    if (message !== this.#trouble) this.#use.log.warn({ err: error }, 'the sandbox host cannot do its work now')
    this.#trouble = message
  }

  async #say(): Promise<void> {
    await sayHost(this.#use.db, {
      id: this.#id,
      url: this.#url,
      memoryBytes: this.#memoryBytes,
      accepting: !this.#draining,
    })
  }

  /** Secrets that are nowhere any more end their container: it is never carried on without them. */
  async #loseSecrets(containerId: string, error: unknown): Promise<never> {
    if (error instanceof EgressFailed && !error.gone) await loseContainer(this.#use.db, containerId, error.message)
    throw error
  }

  /** One at a time: who asks for it waits for all that was over when they asked. */
  async #clear(): Promise<void> {
    const cleared = this.#clearing.then(() => this.#clearEnded())
    this.#clearing = cleared.catch(() => undefined)
    await cleared
  }

  /**
   * Boxes of containers that are nobody's any more: one may have been claimed while its container was being deleted. And
   * what is no box at all.
   */
  async #reconcile(): Promise<void> {
    const boxes = this.#boxes
    if (boxes === null || Date.now() - this.#reconciledAt < reconcileMs) return
    this.#reconciledAt = Date.now()
    const claimed = [...boxes.claimed.keys()]
    const live = await listLiveOfHost(this.#use.db, this.#id)
    for (const containerId of claimed) if (!live.has(containerId)) await boxes.destroy(containerId)
    const strays = await boxes.reap()
    if (strays > 0) this.#use.log.info({ strays }, 'removed what belonged to no box')
  }

  async #clearEnded(): Promise<void> {
    const { db, blobs } = this.#use
    const boxes = this.#boxes
    if (boxes === null) return
    const ended = await listEndedOfHost(db, this.#id, clearBatch)
    for (let at = 0; at < ended.length; at += clearsAtOnce) {
      await Promise.all(
        ended.slice(at, at + clearsAtOnce).map(async ({ id, inline_blobs }) => {
          await boxes.destroy(id)
          for (const blob of inline_blobs) await blobs.remove(blob)
          await markCleared(db, [id])
        }),
      )
    }
  }

  #commands(): MeshCommands {
    const input = <T>({ input: given }: MeshCall) => given as T
    const value = (given: unknown): MeshAnswer => ({ value: given })
    const commands: [string, MeshCommand][] = [
      [
        hostCommands.execute,
        async (call: MeshCall) => ({ value: null, events: this.#here().executor.execute(input<ExecuteInput>(call)) }),
      ],
      [
        hostCommands.cancel,
        async (call: MeshCall) => value(await this.#here().executor.cancel(input<CancelInput>(call))),
      ],
      [
        hostCommands.listFiles,
        async (call: MeshCall) =>
          value(await listBoxFiles(await this.#here().boxes.claim(input<FileInput>(call).order))),
      ],
      [hostCommands.readFile, (call: MeshCall) => this.#readFile(input<FileInput>(call))],
      [
        hostCommands.writeFile,
        async (call: MeshCall) => {
          const given = input<WriteInput>(call)
          const box = await this.#here().boxes.claim(given.order)
          return value(await writeBoxFile({ files: this.#use.files, uid: this.#uid }, box, given, call.body))
        },
      ],
      [
        hostCommands.deleteFile,
        async (call: MeshCall) => {
          const { order, path } = input<FileInput>(call)
          return value(await (await this.#here().boxes.claim(order)).files.remove(path))
        },
      ],
      [
        hostCommands.clear,
        async () => {
          this.#here()
          return value(await this.#clear())
        },
      ],
      [
        hostCommands.park,
        async (call: MeshCall) => {
          const { containerId, secrets } = input<ParkInput>(call)
          return value(await this.#here().egress.park(containerId, secrets))
        },
      ],
    ]
    return new Map(commands.map(([name, command]) => [name, (call) => unlessAway(command(call))]))
  }

  async #readFile({ order, path }: FileInput): Promise<MeshAnswer> {
    const opened = await (await this.#here().boxes.claim(order)).files.open(path)
    if (opened === null) return { value: null }
    const { file, bytes, modifiedMs } = opened
    // Of a file that grows meanwhile, what was announced.
    const stream = bytes === 0 ? null : file.createReadStream({ start: 0, end: bytes - 1 })
    if (stream === null) await file.close()
    return { value: { bytes, modifiedMs }, bytes: stream ?? Readable.from([]) }
  }

  #here(): { boxes: Boxes; egress: EgressLink; executor: Executor } {
    if (this.#boxes === null || this.#egress === null || this.#executor === null) {
      throw new Fault('server_overloaded', `The host of the container is not ready: ${this.#trouble ?? 'starting'}.`, {
        retryAfterMs: retryMs,
      })
    }
    return { boxes: this.#boxes, egress: this.#egress, executor: this.#executor }
  }
}

/** The same for as long as its folder is the same: containers name it as their owner. */
async function readHostId(dir: string): Promise<string> {
  const path = join(dir, 'host-id')
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    const id = newId('host_')
    await writeFile(path, `${id}\n`, { mode: 0o600, flag: 'wx' })
    return id
  }
}

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { OrgId } from '@switchyard/contracts/ids.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { EngineApi } from '#platform/docker/engine-api.ts'
import { bounded } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { BoxOrder } from '../domain/order.ts'
import { EgressFailed, type EgressClient } from '../egress/client.ts'
import type { EgressSettings } from '../egress/proxy.ts'
import type { GivenSecret } from '../egress/secrets.ts'
import { startEgress } from '../egress/start.ts'
import { commandEnv, trustFiles } from '../egress/trust.ts'
import { loseContainer } from '../store/ended-containers.ts'
import { listLiveOfHost, listOrgsOfHost } from '../store/hosts.ts'
import { insertReceipts } from '../store/receipts.ts'
import type { ContainersTables } from '../store/tables.ts'
import type { Box } from './box.ts'
import { mainUser } from './box-options.ts'

export interface EgressUses {
  readonly db: Db<ContainersTables>
  readonly orgs: Pick<Orgs, 'networkPolicy'>
  readonly engine: EngineApi
  readonly log: Log
  readonly hostId: string
  /** Of the proxy: its socket, its settings and its log. */
  readonly folder: string
  readonly settings: EgressSettings
  readonly environment: Readonly<Record<string, string>>
}

const forwarder = ['python3', '-I', '/opt/switchyard/forwarder.py', '/run/egress']
const forwarderMs = 15_000
const forwarderBriefMs = 5_000
const forwarderLookMs = 30_000
const forwarderAgainMs = 1_000
const receiptDigits = 12

/** A host's side of the way out: the proxy process, and what a box needs to find it. */
export class EgressLink {
  readonly #use: EgressUses
  #client: EgressClient | null = null
  #starting: Promise<EgressClient> | null = null
  #startedAt = ''
  #receiptsNext = 0
  /** What the proxy has been told, to tell it only what changed. */
  readonly #told = new Map<string, string>()
  /** Boxes with a way out, by container. */
  readonly #boxes = new Map<string, { box: Box; order: BoxOrder }>()
  /** Attached to the forwarders. Forwarders outlive this process; what listens to them must not keep it alive. */
  readonly #forwarders = new Set<Readable>()

  constructor(use: EgressUses) {
    this.#use = use
  }

  async park(containerId: string, secrets: readonly GivenSecret[]): Promise<void> {
    await (await this.#proxy()).park(containerId, secrets)
  }

  /** Opens the way out of a box. Asked again after a restart, secrets and connections are still there. */
  async attach(box: Box, order: BoxOrder): Promise<void> {
    const { containerId, orgId, allowedDomains } = order
    if (allowedDomains === null) return
    const proxy = await this.#proxy()
    await this.#tellOrganization(proxy, orgId)
    const { caPem, names } = await proxy.attach({
      containerId,
      organizationId: orgId,
      socketPath: join(box.folder.egress, 'proxy.sock'),
      requestDomains: allowedDomains,
      ports: [],
      plainHttpSecrets: false,
    })
    if (names.length < order.secrets.length) {
      throw new EgressFailed('The secrets of the container are not in the memory of its host any more.', false)
    }
    const files: Record<string, string | Buffer> = { 'names.json': JSON.stringify(allowedDomains) }
    if (caPem !== null) Object.assign(files, trustFiles(caPem))
    await mkdir(box.folder.egress, { recursive: true, mode: 0o755 })
    for (const [name, content] of Object.entries(files)) {
      const path = join(box.folder.egress, name)
      await writeFile(`${path}.draft`, content, { mode: 0o644 })
      await rename(`${path}.draft`, path)
    }
    box.env = Object.entries(commandEnv(names, caPem !== null)).map(([name, value]) => `${name}=${value}`)
    this.#boxes.set(containerId, { box, order })
    if (!box.died) await this.#forward(box)
  }

  async detach(containerId: string): Promise<void> {
    this.#boxes.delete(containerId)
    // Nothing was ever parked or attached where no proxy runs.
    if (this.#client === null && this.#starting === null) return
    try {
      await (await this.#proxy()).detach(containerId)
    } catch (error) {
      // What is gone holds nothing; the next tick replaces it.
      if (!(error instanceof EgressFailed && error.gone)) throw error
    }
  }

  /** Once a second: lists as they are now, receipts, and whether the proxy is still the one that holds the secrets. */
  async tick(): Promise<void> {
    if (this.#client === null) {
      if ((await listOrgsOfHost(this.#use.db, this.#use.hostId)).length === 0) return
      await this.#proxy()
    }
    const proxy = this.#client
    if (proxy === null) return
    try {
      for (const orgId of await listOrgsOfHost(this.#use.db, this.#use.hostId))
        await this.#tellOrganization(proxy, orgId)
      await this.#keepParked(proxy)
      await this.#takeReceipts(proxy)
    } catch (error) {
      if (!(error instanceof EgressFailed && error.gone)) throw error
      await this.#replace()
    }
  }

  /** Those of the last second before the end. */
  async end(): Promise<void> {
    if (this.#client !== null) await this.#takeReceipts(this.#client).catch(() => undefined)
    this.#boxes.clear()
    for (const stream of this.#forwarders) stream.destroy()
  }

  async #proxy(): Promise<EgressClient> {
    if (this.#client !== null) return this.#client
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null
    })
    return await this.#starting
  }

  async #start(): Promise<EgressClient> {
    const { folder, settings, environment, log } = this.#use
    const client = await startEgress({ folder, settings, environment })
    const { pid, startedAt } = await client.ping()
    log.info({ pid, startedHere: client.startedHere }, 'the egress proxy answers')
    this.#startedAt = String(Date.parse(startedAt) || startedAt)
    this.#receiptsNext = 0
    this.#told.clear()
    this.#client = client
    return client
  }

  /** The proxy died. Secrets went with it, and with them every container that had some. */
  async #replace(): Promise<void> {
    this.#use.log.error('the egress proxy is gone and is started again')
    this.#client = null
    await this.#proxy()
    for (const [containerId, { box, order }] of this.#boxes) {
      if (order.secrets.length === 0) await this.attach(box, order)
      else {
        this.#boxes.delete(containerId)
        await loseContainer(this.#use.db, containerId, 'The egress proxy that held its secrets ended.')
      }
    }
  }

  /** Secrets whose container is on record are kept for as long as it lives; the others pass by themselves. */
  async #keepParked(proxy: EgressClient): Promise<void> {
    const known = await proxy.list()
    const doubtful = known.filter(({ attached, containerId }) => !attached || !this.#boxes.has(containerId))
    if (doubtful.length === 0) return
    const live = await listLiveOfHost(this.#use.db, this.#use.hostId)
    for (const { containerId, attached } of doubtful) {
      if (!attached && live.has(containerId)) await proxy.keep(containerId)
      // Left by a process that died: its container ended meanwhile.
      if (attached && !live.has(containerId)) await proxy.detach(containerId)
    }
  }

  async #tellOrganization(proxy: EgressClient, orgId: string): Promise<void> {
    const policy = await this.#use.orgs.networkPolicy(orgId as OrgId)
    const domains = policy.type === 'allowlist' ? policy.allowedDomains : []
    const text = JSON.stringify(domains)
    if (this.#told.get(orgId) === text) return
    await proxy.setOrganization(orgId, { domains, ports: [], plainHttpSecrets: false })
    this.#told.set(orgId, text)
  }

  async #takeReceipts(proxy: EgressClient): Promise<void> {
    const { next, receipts } = await proxy.receipts(this.#receiptsNext)
    const first = next - receipts.length
    await insertReceipts(
      this.#use.db,
      receipts.map((receipt, at) => ({
        // The same number gives the same id, so that one taken twice is stored once.
        id: `er_${this.#startedAt}_${String(first + at).padStart(receiptDigits, '0')}`,
        container_id: receipt.containerId,
        at: new Date(receipt.time),
        host: receipt.host,
        port: receipt.port,
        verdict: receipt.verdict,
        reason: receipt.reason,
        bytes_in: receipt.bytesIn,
        bytes_out: receipt.bytesOut,
      })),
    )
    this.#receiptsNext = next
  }

  /** Starts the forwarder inside, and again when it ends while its box lives. */
  async #forward(box: Box): Promise<void> {
    const { engine, log } = this.#use
    const { engineId } = box
    const startedAt = Date.now()
    const stream = await engine.attachExec(engineId, { command: forwarder, user: mainUser, env: [], folder: '/' })
    const ready = new Promise<void>((resolve, reject) => {
      stream.once('data', () => resolve())
      stream.once('end', () => reject(new Error('the forwarder ended')))
      stream.once('error', reject)
    })
    this.#forwarders.add(stream)
    stream.once('close', () => {
      this.#forwarders.delete(stream)
      const containerId = box.note.order?.containerId ?? ''
      if (box.died || box.engineId !== engineId || this.#boxes.get(containerId)?.box !== box) return
      // One that leaves at once has met another that runs already: that one is looked after from time to time.
      const waitMs = Date.now() - startedAt < forwarderBriefMs ? forwarderLookMs : forwarderAgainMs
      setTimeout(() => {
        this.#forward(box).catch((err: unknown) => log.debug({ err, containerId }, 'the forwarder was not restarted'))
      }, waitMs).unref()
    })
    stream.resume()
    await bounded(forwarderMs, () => ready)
  }
}

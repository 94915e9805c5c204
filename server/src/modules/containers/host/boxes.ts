import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { NotRunning, type EngineApi } from '#platform/docker/engine-api.ts'
import { sleep } from '#platform/std/clock.ts'
import { newId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { diskBytesOf } from '../domain/sizes.ts'
import type { BoxOrder } from '../domain/order.ts'
import { Box, readBootId, readBoxNote } from './box.ts'
import { endForgotten } from './control-group.ts'
import { makeBoxFolder, removeBoxFolder, renewSpool } from './box-folder.ts'
import { boxOptions, type BoxLimits } from './box-options.ts'

export interface BoxesUses {
  readonly engine: EngineApi
  readonly log: Log
  readonly hostId: string
  readonly dir: string
  readonly image: string
  readonly runtime: string
  readonly limits: BoxLimits
  readonly uid: number
  /** Only root can mount what a quota needs. */
  readonly quota: boolean
  /** Boxes that wait, all of this size. */
  readonly poolSize: number
  readonly poolMemoryBytes: number
  readonly diskBytesMax: number
  /** Puts files, skills and network in place. */
  readonly fill: (box: Box, order: BoxOrder) => Promise<void>
  /** The same for a box that outlived the process. */
  readonly adopt: (box: Box, order: BoxOrder) => Promise<void>
  /** Undoes what `fill` did outside of the box's own folder. */
  readonly release: (containerId: string) => Promise<void>
}

export const hostLabel = 'switchyard.host'
const boxLabel = 'switchyard.box'
const makingMax = 2
const refillPauseMs = 2_000
const endMs = 10_000
const endLookMs = 20
/** The first command of a box goes before the box that takes its place in the pool: both want the whole machine. */
const refillRestMs = 500

/** All boxes of a host: those that wait, and those that carry a container. */
export class Boxes {
  readonly #use: BoxesUses
  readonly #claimed = new Map<string, Box>()
  readonly #claims = new Map<string, Promise<Box>>()
  readonly #byEngineId = new Map<string, Box>()
  readonly #pool: Box[] = []
  /** Whose data has to go: it is tried again until it has. */
  readonly #doomed = new Set<Box>()
  /** Every box that this process answers for, until it is gone. */
  readonly #held = new Map<string, Box>()
  /** Those that are being made, or whose machine is: its name is not known yet. */
  readonly #starting = new Set<string>()
  #making = 0
  #bootId = ''
  #ending = false
  #refill: NodeJS.Timeout | null = null

  constructor(use: BoxesUses) {
    this.#use = use
  }

  get claimed(): ReadonlyMap<string, Box> {
    return this.#claimed
  }

  get waiting(): number {
    return this.#pool.length
  }

  /**
   * Takes up what an earlier process left: containers that are still owed, and nothing else. `lost` had data, which went
   * with an earlier life of the machine: they must not go on as if they were new.
   */
  async recover(owed: ReadonlySet<string>): Promise<{ kept: number; removed: number; lost: string[] }> {
    this.#bootId = await readBootId()
    await mkdir(this.#boxesDir, { recursive: true, mode: 0o711 })
    const inEngine = await this.#use.engine.list(`${hostLabel}=${this.#use.hostId}`)
    const kept = new Set<string>()
    const lost = new Set<string>()
    let removed = 0
    for (const name of await readdir(this.#boxesDir)) {
      const root = join(this.#boxesDir, name)
      const note = await readBoxNote(root)
      const mine = note !== null && note.order !== null && note.filled && note.bootId === this.#bootId
      if (mine && owed.has(note.order.containerId) && !this.#claimed.has(note.order.containerId)) {
        const box = new Box(root, note)
        box.died = !inEngine.some(({ id, running }) => id === note.engineId && running)
        this.#held.set(note.boxId, box)
        this.#keep(note.order.containerId, box)
        kept.add(note.engineId)
        await this.#adopt(box, note.order)
        continue
      }
      if (note?.order != null && note.filled && owed.has(note.order.containerId)) lost.add(note.order.containerId)
      for (const { id } of inEngine.filter(({ labels }) => labels[boxLabel] === name)) await this.#remove(id)
      await removeBoxFolder(root)
      removed += 1
    }
    for (const { id } of inEngine) if (!kept.has(id)) removed += (await this.#remove(id)) ? 1 : 0
    return { kept: this.#claimed.size, removed, lost: [...lost].filter((id) => !this.#claimed.has(id)) }
  }

  /** The box of a container: the one it has, one that waits, or a new one. */
  async claim(order: BoxOrder): Promise<Box> {
    const { containerId } = order
    const known = this.#claimed.get(containerId)
    if (known !== undefined) return known
    const under = this.#claims.get(containerId)
    if (under !== undefined) return await under
    const claiming = this.#claim(order).finally(() => this.#claims.delete(containerId))
    this.#claims.set(containerId, claiming)
    return await claiming
  }

  async #claim(order: BoxOrder): Promise<Box> {
    const box = this.#take(order.memoryBytes) ?? (await this.#make(order.memoryBytes))
    this.#fillPoolIn(refillRestMs)
    try {
      await box.write({ order })
      await this.#use.fill(box, order)
      await box.write({ filled: true })
    } catch (error) {
      await this.#destroy(box).catch(() => undefined)
      throw error
    }
    this.#keep(order.containerId, box)
    return box
  }

  #take(memoryBytes: number): Box | null {
    const at = this.#pool.findIndex((box) => box.note.memoryBytes === memoryBytes && !box.died)
    return at < 0 ? null : (this.#pool.splice(at, 1)[0] ?? null)
  }

  #keep(containerId: string, box: Box): void {
    this.#claimed.set(containerId, box)
    this.#byEngineId.set(box.engineId, box)
  }

  /** A new machine over the same files; with a new spool when the old one is full of what cannot be removed. */
  async revive(box: Box, { newSpool = false } = {}): Promise<void> {
    if (box.gone) throw new Error('the box is gone')
    const { log } = this.#use
    const { boxId, memoryBytes } = box.note
    await this.#remove(box.engineId)
    this.#byEngineId.delete(box.engineId)
    if (newSpool) await renewSpool(box.folder.spool, this.#use.quota)
    this.#starting.add(boxId)
    try {
      await box.write({ engineId: await this.#start(boxId, memoryBytes, box) })
    } finally {
      this.#starting.delete(boxId)
    }
    this.#byEngineId.set(box.engineId, box)
    box.died = false
    const { order } = box.note
    if (order !== null) await this.#adopt(box, order)
    log.info({ box: boxId, container: order?.containerId }, 'a box got a new machine')
  }

  /** A box whose way out cannot be opened again is still worth its files. */
  async #adopt(box: Box, order: BoxOrder): Promise<void> {
    try {
      await this.#use.adopt(box, order)
    } catch (err) {
      this.#use.log.error({ err, container: order.containerId }, 'a container was taken up without its network')
    }
  }

  /** Takes a container's data away. Idempotent; whoever else asked meanwhile gets a new, empty box. */
  async destroy(containerId: string): Promise<void> {
    await this.#claims.get(containerId)?.catch(() => undefined)
    const box = this.#claimed.get(containerId)
    if (box !== undefined) {
      box.gone = true
      this.#doomed.add(box)
      this.#claimed.delete(containerId)
    }
    await this.#use.release(containerId)
    for (const doomed of this.#doomed) if (doomed.note.order?.containerId === containerId) await this.#destroy(doomed)
  }

  async #destroy(box: Box): Promise<void> {
    box.gone = true
    this.#doomed.add(box)
    this.#byEngineId.delete(box.engineId)
    await this.#remove(box.engineId)
    await removeBoxFolder(box.folder.root)
    this.#held.delete(box.note.boxId)
    this.#doomed.delete(box)
  }

  /** Removes what belongs to no box: an engine that went away in the middle of something may leave it behind. */
  async reap(): Promise<number> {
    const { engine, hostId } = this.#use
    let removed = 0
    for (const doomed of this.#doomed) await this.#destroy(doomed)
    for (const { id, labels } of await engine.list(`${hostLabel}=${hostId}`)) {
      const boxId = labels[boxLabel] ?? ''
      if (this.#starting.has(boxId) || this.#held.get(boxId)?.engineId === id) continue
      removed += (await this.#remove(id)) ? 1 : 0
    }
    for (const name of await readdir(this.#boxesDir)) {
      if (this.#starting.has(name) || this.#held.has(name)) continue
      await removeBoxFolder(join(this.#boxesDir, name))
      removed += 1
    }
    return removed
  }

  note(event: { kind: 'die' | 'oom'; id: string }): void {
    const box = this.#byEngineId.get(event.id) ?? this.#pool.find(({ engineId }) => engineId === event.id)
    if (box === undefined) return
    if (event.kind === 'oom') box.oomAt = Date.now()
    else box.died = true
  }

  /** After a time in which events were not heard. */
  async check(): Promise<void> {
    const running = new Set(
      (await this.#use.engine.list(`${hostLabel}=${this.#use.hostId}`)).flatMap(({ id, running: is }) =>
        is ? [id] : [],
      ),
    )
    for (const box of [...this.#claimed.values(), ...this.#pool]) if (!running.has(box.engineId)) box.died = true
  }

  /** Makes boxes until enough wait. Failures are tried again later: a claim makes its own meanwhile. */
  fillPool(): void {
    const { poolSize, poolMemoryBytes, log } = this.#use
    for (const dead of this.#pool.filter(({ died }) => died)) {
      this.#pool.splice(this.#pool.indexOf(dead), 1)
      this.#destroy(dead).catch((err: unknown) => log.warn({ err }, 'a dead box could not be removed'))
    }
    if (this.#refill !== null) return
    while (!this.#ending && this.#making < makingMax && this.#pool.length + this.#making < poolSize) {
      this.#making += 1
      this.#make(poolMemoryBytes)
        .then(async (box) => {
          if (this.#ending) await this.#destroy(box)
          else this.#pool.push(box)
          this.#making -= 1
          this.fillPool()
        })
        .catch((err: unknown) => {
          this.#making -= 1
          log.warn({ err }, 'a box for the pool could not be made and will be tried again')
          this.#fillPoolIn(refillPauseMs)
        })
    }
  }

  /** Whoever asks meanwhile waits too, and does not make it later. */
  #fillPoolIn(ms: number): void {
    if (this.#ending) return
    this.#refill ??= setTimeout(() => {
      this.#refill = null
      this.fillPool()
    }, ms)
  }

  /** The pool goes with the process; boxes with a container stay. */
  async end(): Promise<void> {
    this.#ending = true
    if (this.#refill !== null) clearTimeout(this.#refill)
    await Promise.all(this.#pool.splice(0).map((box) => this.#destroy(box).catch(() => undefined)))
    // One that is still being made removes itself.
    for (const until = Date.now() + endMs; this.#making > 0 && Date.now() < until;) await sleep(endLookMs)
  }

  async #remove(engineId: string): Promise<boolean> {
    const removed = await this.#use.engine.remove(engineId)
    if (engineId !== '') await endForgotten(engineId)
    return removed
  }

  get #boxesDir(): string {
    return join(this.#use.dir, 'boxes')
  }

  async #make(memoryBytes: number): Promise<Box> {
    const boxId = newId('box_')
    const root = join(this.#boxesDir, boxId)
    const diskBytes = Math.min(diskBytesOf(memoryBytes), this.#use.diskBytesMax)
    const { uid, quota } = this.#use
    this.#starting.add(boxId)
    try {
      await makeBoxFolder(root, { diskBytes, uid, quota })
      const box = new Box(root, {
        boxId,
        engineId: '',
        memoryBytes,
        bootId: this.#bootId,
        order: null,
        filled: false,
        uploads: {},
      })
      await box.write({ engineId: await this.#start(boxId, memoryBytes, box) })
      this.#held.set(boxId, box)
      return box
    } catch (error) {
      await removeBoxFolder(root).catch(() => undefined)
      throw error
    } finally {
      this.#starting.delete(boxId)
    }
  }

  async #start(boxId: string, memoryBytes: number, box: Box): Promise<string> {
    const { engine, hostId, image, runtime, limits } = this.#use
    const labels = { [hostLabel]: hostId, [boxLabel]: boxId }
    const options = boxOptions(newId(`${boxId}-`), labels, { image, runtime, memoryBytes }, limits, box.folder)
    const engineId = await engine.create(options)
    try {
      await engine.start(engineId)
    } catch (error) {
      await this.#remove(engineId).catch(() => undefined)
      if (error instanceof NotRunning) throw new Error(`a box could not be started: ${error.message}`, { cause: error })
      throw error
    }
    return engineId
  }
}

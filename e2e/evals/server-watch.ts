import type { ServerNode } from '../../dev/server-node.ts'
import { MemoryWatch } from '../batches/memory-watch.ts'
import type { Checks } from '../load/checks.ts'
import { FamilyMemory } from './family-memory.ts'
import { Pulse } from './pulse.ts'

export interface Watched {
  readonly node: ServerNode
  /** Something cheap that it answers. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface WatchBounds {
  readonly growthMegabytesMax: number
  /** Beyond what the machine kept the asking itself waiting. */
  readonly lateMsMax: number
}

/** One process of the server while something goes on that must not hurt it. */
export class ServerWatch {
  readonly #node: ServerNode
  readonly #pid: number
  readonly #pulse: Pulse
  readonly #memory: MemoryWatch
  readonly #family: FamilyMemory

  constructor({ node, url, headers = {} }: Watched) {
    this.#node = node
    this.#pid = node.process.pid
    this.#pulse = new Pulse({ url, headers })
    this.#memory = new MemoryWatch(() => this.#pid)
    this.#memory.begin(this.#pid)
    this.#family = new FamilyMemory([this.#pid])
  }

  async end(checks: Checks, { growthMegabytesMax, lateMsMax }: WatchBounds): Promise<void> {
    const [heard] = await Promise.all([this.#pulse.end(), this.#memory.end(), this.#family.end()])
    const { name, process: own } = this.#node
    checks.expect(`${name} is the process that it was`, own.running && own.pid === this.#pid, `pid ${this.#pid}`)
    const { began = 0, growth = 0 } = this.#family.seen[0] ?? {}
    checks.expect(
      `${name} grew by less than ${growthMegabytesMax} MB`,
      this.#memory.growthMegabytes < growthMegabytesMax,
      `${this.#memory.growthMegabytes} MB; with its children ${growth} MB above ${began} MB`,
    )
    const { count, failures, worstMs, ownLateMs } = heard
    checks.expect(
      `${name} answered all the while, never later than ${lateMsMax / 1_000} s`,
      failures === 0 && count > 0 && worstMs - ownLateMs < lateMsMax,
      `${count} asked, ${failures} failed, at worst ${Math.round(worstMs)} ms; the asking was late by ${Math.round(ownLateMs)} ms`,
    )
  }
}

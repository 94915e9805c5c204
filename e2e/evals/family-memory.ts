import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../fuzz/server-memory.ts'

const lookEveryMs = 500
const megabyte = 1024 ** 2

/** What a process and those that it started have resident. */
function familyBytes(pid: number): number {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
    return children.reduce((sum, child) => sum + familyBytes(child), residentBytes(pid))
  } catch {
    // It has ended since.
    return 0
  }
}

/** Looks at processes twice a second, the children of each counted with it. */
export class FamilyMemory {
  readonly #pids: readonly number[]
  readonly #began: readonly number[]
  readonly #most: number[]
  readonly #ending = new AbortController()
  readonly #looking: Promise<void>

  /** What they have now is where growth is counted from. */
  constructor(pids: readonly number[]) {
    this.#pids = pids
    this.#began = pids.map(familyBytes)
    this.#most = [...this.#began]
    this.#looking = this.#look()
  }

  /** By process, in megabytes: where it began, and how far above that it ever was. */
  get seen(): { began: number; growth: number }[] {
    return this.#began.map((began, at) => ({
      began: Math.round(began / megabyte),
      growth: Math.round(((this.#most[at] ?? 0) - began) / megabyte),
    }))
  }

  async end(): Promise<void> {
    this.#ending.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      for (const [at, pid] of this.#pids.entries()) this.#most[at] = Math.max(this.#most[at] ?? 0, familyBytes(pid))
      await sleep(lookEveryMs, null, { signal }).catch(() => undefined)
    }
  }
}

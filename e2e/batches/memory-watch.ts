import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../fuzz/server-memory.ts'

const lookEveryMs = 100

/** Looks at the memory of a process again and again, over its restarts. Growth is counted from where each life began. */
export class MemoryWatch {
  #growthBytes = 0
  #beganBytes = 0
  #pid = 0
  #ending = false
  readonly #looking: Promise<void>

  constructor(pidOf: () => number) {
    this.#looking = this.#look(pidOf)
  }

  get growthMegabytes(): number {
    return Math.round(this.#growthBytes / 1024 ** 2)
  }

  /** From here on, this is where the life of a process began: it is up and has nothing to do. */
  begin(pid: number): void {
    this.#pid = pid
    this.#beganBytes = residentBytes(pid)
  }

  async end(): Promise<void> {
    this.#ending = true
    await this.#looking
  }

  async #look(pidOf: () => number): Promise<void> {
    while (!this.#ending) {
      const pid = pidOf()
      if (pid === this.#pid && this.#beganBytes > 0) {
        this.#growthBytes = Math.max(this.#growthBytes, tryResident(pid) - this.#beganBytes)
      }
      await sleep(lookEveryMs)
    }
  }
}

function tryResident(pid: number): number {
  try {
    return residentBytes(pid)
  } catch {
    // Killed a moment ago.
    return 0
  }
}

import { setTimeout as delay } from 'node:timers/promises'

const ASK_EVERY_MS = 200
const ASK_BOUND_MS = 3_000

interface Report {
  readonly parts?: Readonly<Record<string, { readonly degraded?: string }>>
}

/** Asks every node again and again whether it is ready, and how Valkey does. */
export class ReadinessWatch {
  asked = 0
  /** Answers other than 200. */
  notReady = 0
  readonly #degraded: (boolean | null)[]
  readonly #stopping = new AbortController()
  readonly #asking: Promise<void[]>

  constructor(internalUrls: readonly string[]) {
    this.#degraded = internalUrls.map(() => null)
    this.#asking = Promise.all(internalUrls.map((url, index) => this.#ask(url, index)))
  }

  get allDegraded(): boolean {
    return this.#degraded.every((degraded) => degraded === true)
  }

  get allWell(): boolean {
    return this.#degraded.every((degraded) => degraded === false)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#asking
  }

  async #ask(url: string, index: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.asked += 1
      try {
        const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ASK_BOUND_MS) })
        const report = (await reply.json()) as Report
        if (reply.status !== 200) this.notReady += 1
        this.#degraded[index] = report.parts?.['valkey']?.degraded !== undefined
      } catch {
        this.notReady += 1
      }
      await delay(ASK_EVERY_MS)
    }
  }
}

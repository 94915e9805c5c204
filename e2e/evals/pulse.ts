import { Worker } from 'node:worker_threads'

/** Something cheap that a server answers. */
export interface Asked {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Heard {
  readonly count: number
  readonly failures: number
  readonly worstMs: number
  /** How late the asking itself was at worst: what the machine did to everybody. */
  readonly ownLateMs: number
}

/** Asks a server for something cheap all the while, from a thread of its own: an event loop that is held up answers late. */
export class Pulse {
  readonly #worker: Worker

  constructor(asked: Asked) {
    this.#worker = new Worker(new URL('./pulse-thread.ts', import.meta.url), { workerData: asked })
  }

  async end(): Promise<Heard> {
    const heard = new Promise<Heard>((resolve, reject) => {
      this.#worker.once('message', resolve)
      this.#worker.once('error', reject)
    })
    this.#worker.postMessage('end')
    return await heard
  }
}

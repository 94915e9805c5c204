import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { inNamespace } from './namespaces.ts'

export type InternetOrder =
  | { readonly kind: 'start'; readonly cert: string; readonly key: string }
  | { readonly kind: 'sync'; readonly number: number }

export interface RequestSeen {
  readonly kind: 'request' | 'upgrade' | 'relay'
  readonly address: string
  readonly port: number
  readonly host: string
  readonly serverName: string
  readonly method: string
  readonly url: string
  readonly secure: boolean
  /** Whether the host that it names is the one of this address. */
  readonly expected: boolean
  readonly headers: readonly string[]
}

export type InternetEvent =
  | RequestSeen
  | { readonly kind: 'ready' }
  | { readonly kind: 'synced'; readonly number: number }
  | { readonly kind: 'question'; readonly name: string; readonly type: number }
  | { readonly kind: 'connection'; readonly address: string; readonly port: number }
  | { readonly kind: 'ticking'; readonly address: string }
  | { readonly kind: 'cut'; readonly address: string; readonly at: number }

const program = fileURLToPath(new URL('internet-process.ts', import.meta.url))
const startedMs = 30_000
const syncMs = 15_000
const eventsMax = 1_000_000

/** The servers of the internet that is played, in their own namespace. */
export class Internet {
  readonly #child: ChildProcess
  readonly #events: InternetEvent[] = []
  #synced = -1
  #syncs = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (event: InternetEvent) => {
      if (event.kind === 'synced') this.#synced = event.number
      else if (this.#events.length < eventsMax) this.#events.push(event)
    })
  }

  static async start(namespace: string, given: { cert: string; key: string }): Promise<Internet> {
    const child = spawn(...inNamespace(namespace, process.execPath, [program]), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const internet = new Internet(child)
    internet.#order({ kind: 'start', ...given })
    if (!(await becomesTrue(() => internet.has(({ kind }) => kind === 'ready'), startedMs))) {
      await internet.stop()
      throw new Error('the internet did not start')
    }
    return internet
  }

  has(like: (event: InternetEvent) => boolean): boolean {
    return this.#events.some(like)
  }

  /** What its servers have seen since the last time. */
  async take(): Promise<InternetEvent[]> {
    const number = this.#syncs
    this.#syncs += 1
    this.#order({ kind: 'sync', number })
    if (!(await becomesTrue(() => this.#synced >= number, syncMs))) throw new Error('the internet does not answer')
    return this.#events.splice(0)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill()
    await once(this.#child, 'exit')
  }

  #order(order: InternetOrder): void {
    this.#child.send(order)
  }
}

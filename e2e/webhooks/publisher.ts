import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import type { Stack } from '../../dev/stack.ts'
import { Child } from './child.ts'

export interface Publishing {
  readonly projectId: string
  readonly types: readonly WebhookEventType[]
  /** Events are numbered; the number decides the type. */
  readonly from: number
  readonly to: number
  readonly perTransaction: number
  /** Transactions open at once. */
  readonly concurrency: number
  /** Events a second, or 0 for as fast as it goes. */
  readonly perSecond: number
}

export type PublisherQuestion =
  | { kind: 'start'; worker: boolean }
  | { kind: 'publish'; publishing: Publishing }
  | { kind: 'stop' }

/** When each event of the range was committed. */
export type Commits = Float64Array

const program = new URL('publisher-process.ts', import.meta.url)

/** A process that commits events as a module does; it can be a whole worker besides. */
export class PublisherProcess {
  readonly #child: Child

  constructor(stack: Stack, settings: Record<string, string> = {}, execArgv: readonly string[] = []) {
    this.#child = new Child(program, { ...stack.env, SWITCHYARD_LOG_LEVEL: 'error', ...settings }, execArgv)
  }

  async start(worker = false): Promise<void> {
    await this.#ask({ kind: 'start', worker })
  }

  publish(publishing: Publishing): Promise<Commits> {
    return this.#ask<Commits>({ kind: 'publish', publishing })
  }

  async stop(): Promise<void> {
    await this.#ask({ kind: 'stop' })
    await this.#child.leave()
  }

  async kill9(): Promise<void> {
    await this.#child.end('SIGKILL')
  }

  #ask<Reply>(question: PublisherQuestion): Promise<Reply> {
    return this.#child.ask<Reply>(question)
  }
}

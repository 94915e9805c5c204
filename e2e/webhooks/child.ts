import { fork, type ChildProcess } from 'node:child_process'

type Answer = { readonly number: number; readonly answer?: unknown; readonly failed?: string }

/** A process of the proof that is asked questions; each is answered by its number. */
export class Child {
  readonly #child: ChildProcess
  readonly #open = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0
  #ended = false

  constructor(file: URL, env: NodeJS.ProcessEnv = process.env, execArgv: readonly string[] = []) {
    this.#child = fork(file, [], { env, execArgv: [...execArgv], serialization: 'advanced' })
    this.#child.on('message', (message) => this.#answered(message as Answer))
    this.#child.once('exit', () => {
      this.#ended = true
      for (const waiting of this.#open.values()) waiting.reject(new Error('the process ended'))
      this.#open.clear()
    })
  }

  async ask<Reply>(question: object): Promise<Reply> {
    if (this.#ended) throw new Error('the process ended')
    this.#asked += 1
    const waiting = Promise.withResolvers<unknown>()
    this.#open.set(this.#asked, waiting)
    this.#child.send({ number: this.#asked, question })
    return (await waiting.promise) as Reply
  }

  async end(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    if (this.#ended) return
    const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.kill(signal)
    await exited
  }

  /** Lets it end by itself, so that it may write what it has to. */
  async leave(): Promise<void> {
    if (this.#ended) return
    const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.disconnect()
    await exited
  }

  #answered({ number, answer, failed }: Answer): void {
    const waiting = this.#open.get(number)
    this.#open.delete(number)
    if (failed === undefined) waiting?.resolve(answer)
    else waiting?.reject(new Error(failed))
  }
}

/** The other end: answers each question that the parent asks. Ends with its parent. */
export function answerParent<Question>(reply: (question: Question) => unknown): void {
  process.on('message', (message) => {
    const { number, question } = message as { number: number; question: Question }
    void (async () => {
      try {
        process.send?.({ number, answer: await reply(question) })
      } catch (error) {
        process.send?.({ number, failed: error instanceof Error ? (error.stack ?? error.message) : 'failed' })
      }
    })()
  })
  process.once('disconnect', () => process.exit(0))
}

/** One clock for all processes of this machine, in milliseconds. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

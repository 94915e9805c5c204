import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Load {
  readonly port: number
  readonly key: string
  /** One of these at random for each request. */
  readonly paths: readonly string[]
  /** JSON that is posted; without it the requests are GETs. */
  readonly body?: string
  /** Beside those that every request has. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  readonly seconds: number
  /** Ends sooner, once this many were answered: for warming up, where code gets fast by being run, not by waiting. */
  readonly requestsMax?: number
}

export interface LoadResult {
  readonly requests: number
  /** Replies that were not 200. */
  readonly failures: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Server-sent events in all replies together. */
  readonly events: number
}

const generator = fileURLToPath(new URL('generate.ts', import.meta.url))
/** For starting the process and connecting, beyond the time of the load itself. */
const startBoundMs = 60_000

/**
 * Puts load on servers from a process of its own, so that the one under load never shares its thread with the one that
 * makes it. One generator serves all twins of a bench: what it costs, and how warm it is, is the same for each.
 */
export class LoadGenerator {
  readonly #child: ChildProcess = fork(generator)

  /** A reply that is not 200 ends the bench. */
  async run(load: Load): Promise<LoadResult> {
    const child = this.#child
    const answer = Promise.withResolvers<LoadResult>()
    const ended = () => answer.reject(new Error('the load generator ended'))
    const bound = setTimeout(
      () => answer.reject(new Error('the load took too long')),
      load.seconds * 1_000 + startBoundMs,
    )
    child.once('message', answer.resolve as (message: unknown) => void)
    child.once('exit', ended)
    try {
      child.send(load)
      const result = await answer.promise
      if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} replies were not 200`)
      return result
    } finally {
      clearTimeout(bound)
      child.off('exit', ended)
    }
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGKILL')
    await exited
  }
}

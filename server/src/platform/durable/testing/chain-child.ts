import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Counts } from '../counts.ts'
import type { ChainProcessOptions } from './chain-process.ts'

const program = fileURLToPath(new URL('./chain-process.ts', import.meta.url))
const readyBoundMs = 60_000

/** A worker or submitter in a process of its own, to be killed, frozen and ended by a test. */
export class ChainChild {
  readonly #child: ChildProcess
  readonly #exited: Promise<void>
  #asked = false
  #counts: Counts | null = null
  #submitted = false

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  static async start(options: ChainProcessOptions): Promise<ChainChild> {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const started = new ChainChild(child)
    const ready = Promise.withResolvers<void>()
    const bound = setTimeout(() => ready.reject(new Error(`${options.worker} was not ready in time`)), readyBoundMs)
    child.once('exit', (code, signal) => ready.reject(new Error(`${options.worker} ended: ${code ?? signal}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { ready?: true; counts?: Counts; submitted?: true }
      if (said.ready === true) ready.resolve()
      if (said.submitted === true) started.#submitted = true
      if (said.counts !== undefined) started.#counts = said.counts
    })
    try {
      await ready.promise
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    } finally {
      clearTimeout(bound)
    }
    return started
  }

  /** Resolves when the process has ended; true when nobody had asked it to. */
  async ended(): Promise<boolean> {
    await this.#exited
    return !this.#asked
  }

  /** As last heard of; a killed process takes the last fifth of a second with it. */
  get counts(): Counts | null {
    return this.#counts
  }

  /** Whether a submitter has added all its pieces. */
  get submitted(): boolean {
    return this.#submitted
  }

  async kill9(): Promise<void> {
    this.#asked = true
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async end(): Promise<void> {
    this.#asked = true
    this.#child.kill('SIGTERM')
    await this.#exited
  }
}

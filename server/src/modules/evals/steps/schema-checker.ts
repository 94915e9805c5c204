import { fork, type ChildProcess } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  READY,
  type CheckAnswer,
  type CheckerAsk,
  type CompileAnswer,
  type Stopped,
  type TimeLimits,
} from './schema-messages.ts'

export interface KnownSchema {
  /** The same for the same text. */
  readonly id: string
  readonly text: string
}

/** How one ask went. `died` is the process, out of memory (`memory`) or past every limit (`time`). */
export type CheckerOutcome =
  | { kind: 'checked'; reasons: (string | null)[]; stopped: Stopped | null; usedMs: number }
  | { kind: 'refused'; reason: string }
  | { kind: 'compile_stopped'; stopped: Stopped }
  | { kind: 'died'; during: 'compile' | 'check'; of: 'memory' | 'time'; afterMs: number }

export interface CheckerLimits {
  readonly compileMs: number
  readonly itemMs: number
  readonly heapMb: number
}

/** Of the time it is given, what work must have had of the processor to be to blame. */
const BUSY_SHARE = 0.7
/** Of the 8 MB that threads usually have. The library nests the checks of properties, one in the other. */
const STACK_KB = 6_000
const START_MS_MAX = 30_000
/** Past its own limit a process has this long to answer: some work of the engine cannot be interrupted. */
const GRACE_MS = 2_000
const SCHEMAS_MAX = 32
const SCHEMA_CHARS_MAX = 1024 * 1024

class CheckerDied extends Error {
  readonly of: 'memory' | 'time'
  constructor(of: 'memory' | 'time') {
    super('A checker of item schemas died.')
    this.of = of
  }
}

const timeLimits = (usualMs: number, stretch: number): TimeLimits => ({
  clockMs: usualMs * stretch,
  busyMs: usualMs * BUSY_SHARE,
})

/** Code, ours and that of packages, wherever a link puts them; nothing beside it, such as the data of a dev stack. */
function readable(): string[] {
  const folder = (name: string) => fileURLToPath(new URL(`../../../../../${name}/`, import.meta.url))
  const packages = folder('node_modules')
  return [folder('server'), folder('packages'), packages, `${realpathSync(packages)}/`]
}

/** One process that checks items, for one caller at a time. */
export class SchemaChecker {
  readonly #child: ChildProcess
  readonly #limits: CheckerLimits
  /** What it has compiled, the least recently used first, with its size. */
  readonly #compiled = new Map<string, number>()
  #killedBy: 'time' | null = null
  #waiting: PromiseWithResolvers<unknown> | null = null
  #alive = true

  constructor(limits: CheckerLimits) {
    this.#limits = limits
    const program = new URL('./schema-process.ts', import.meta.url)
    this.#child = fork(program, [], {
      // Reading its own program is all it may do: not write, not start anything, not see the environment.
      execArgv: [
        '--permission',
        ...readable().map((folder) => `--allow-fs-read=${folder}`),
        `--max-old-space-size=${limits.heapMb}`,
        `--stack-size=${STACK_KB}`,
      ],
      env: {},
      cwd: '/',
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child.on('message', (answer) => this.#settle((waiting) => waiting.resolve(answer)))
    this.#child.on('error', (error) => this.#end(error))
    this.#child.on('exit', () => this.#end(new CheckerDied(this.#killedBy ?? 'memory')))
  }

  get alive(): boolean {
    return this.#alive
  }

  knows(schema: KnownSchema): boolean {
    return this.#compiled.has(schema.id)
  }

  /** Resolves once it takes work. Throws when it cannot be started, which nobody's schema is to blame for. */
  async ready(): Promise<void> {
    const said = await this.#answer(START_MS_MAX).catch((error: unknown) => {
      throw new Error('A checker of item schemas did not start.', { cause: error })
    })
    if (said !== READY) throw new Error('A checker of item schemas began with something else than being ready.')
  }

  /** An idle one does not keep the server from ending. */
  idle(is: boolean): void {
    if (is) this.#child.unref()
    else this.#child.ref()
    if (is) this.#child.channel?.unref()
    else this.#child.channel?.ref()
  }

  /** `stretch` is how many times the usual time it has by the clock, on a machine that is busy with other things. */
  async run(schema: KnownSchema, items: string[], stretch: number): Promise<CheckerOutcome> {
    let during: 'compile' | 'check' = 'compile'
    const began = performance.now()
    try {
      if (!this.knows(schema)) {
        const { refusal, stopped } = await this.#compile(schema, stretch)
        if (refusal !== null) return { kind: 'refused', reason: refusal }
        if (stopped !== null) return { kind: 'compile_stopped', stopped }
      }
      this.#remember(schema)
      during = 'check'
      if (items.length === 0) return { kind: 'checked', reasons: [], stopped: null, usedMs: 0 }
      const limits = timeLimits(this.#limits.itemMs, stretch)
      const answer = await this.#ask<CheckAnswer>({ kind: 'check', id: schema.id, items, limits }, limits)
      return { kind: 'checked', ...answer }
    } catch (error) {
      if (error instanceof CheckerDied)
        return { kind: 'died', during, of: error.of, afterMs: performance.now() - began }
      throw error
    }
  }

  async stop(): Promise<void> {
    if (!this.#alive) return
    this.idle(false)
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await gone
  }

  async #compile({ id, text }: KnownSchema, stretch: number): Promise<CompileAnswer> {
    const limits = timeLimits(this.#limits.compileMs, stretch)
    return await this.#ask<CompileAnswer>({ kind: 'compile', id, schema: text, limits }, limits)
  }

  #remember({ id, text }: KnownSchema): void {
    this.#compiled.delete(id)
    this.#compiled.set(id, text.length)
    let chars = this.#compiled.values().reduce((sum, one) => sum + one, 0)
    for (const [oldest, size] of this.#compiled) {
      if (oldest === id || (this.#compiled.size <= SCHEMAS_MAX && chars <= SCHEMA_CHARS_MAX)) break
      this.#compiled.delete(oldest)
      chars -= size
      this.#send({ kind: 'forget', id: oldest })
    }
  }

  #send(ask: CheckerAsk): void {
    // A failure to send is the end of the process, of which `exit` tells.
    this.#child.send(ask, () => undefined)
  }

  async #ask<Answer>(ask: CheckerAsk, limits: TimeLimits): Promise<Answer> {
    if (!this.#alive) throw new CheckerDied('memory')
    this.#send(ask)
    return (await this.#answer(limits.clockMs * 2 + GRACE_MS)) as Answer
  }

  async #answer(boundMs: number): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting = waiting
    const late = setTimeout(() => {
      this.#killedBy = 'time'
      this.#child.kill('SIGKILL')
    }, boundMs)
    try {
      return await waiting.promise
    } finally {
      clearTimeout(late)
    }
  }

  #settle(how: (waiting: PromiseWithResolvers<unknown>) => void): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting !== null) how(waiting)
  }

  #end(error: Error): void {
    this.#alive = false
    this.#settle((waiting) => waiting.reject(error))
  }
}

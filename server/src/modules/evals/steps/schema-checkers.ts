import { SchemaChecker, type CheckerLimits, type CheckerOutcome, type KnownSchema } from './schema-checker.ts'

/** Callers that may wait for a checker. Each has one ask at a time, so this is runs and requests in hand. */
const WAITING_MAX = 1_000

interface Turn {
  readonly schema: KnownSchema
  readonly enter: (checker: SchemaChecker) => void
  readonly leave: (error: Error) => void
}

/** The checkers of this process: started when there is work for them, ended when there was none for a while. */
export class SchemaCheckers {
  readonly #limits: CheckerLimits
  readonly #max: number
  readonly #idleMs: number
  readonly #idle = new Map<SchemaChecker, NodeJS.Timeout>()
  readonly #all = new Set<SchemaChecker>()
  readonly #waiting: Turn[] = []
  #stopped = false

  constructor(options: { limits: CheckerLimits; max: number; idleMs: number }) {
    this.#limits = options.limits
    this.#max = options.max
    this.#idleMs = options.idleMs
  }

  get running(): number {
    return this.#all.size
  }

  /** Checks the first of these items, as many as there is time for. Throws only when no checker can be had. */
  async run(schema: KnownSchema, items: string[], stretch: number): Promise<CheckerOutcome> {
    const checker = await this.#take(schema)
    try {
      return await checker.run(schema, items, stretch)
    } finally {
      this.#free(checker)
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const turn of this.#waiting.splice(0)) turn.leave(new Error('Item schemas are no longer checked here.'))
    for (const timer of this.#idle.values()) clearTimeout(timer)
    this.#idle.clear()
    await Promise.all([...this.#all].map((checker) => checker.stop()))
    this.#all.clear()
  }

  async #take(schema: KnownSchema): Promise<SchemaChecker> {
    if (this.#stopped) throw new Error('Item schemas are no longer checked here.')
    const idle = this.#idleFor(schema)
    if (idle !== null) return this.#wake(idle)
    if (this.#all.size < this.#max) return await this.#start()
    if (this.#waiting.length >= WAITING_MAX) throw new Error('Too many callers wait for a checker of item schemas.')
    return await new Promise((enter, leave) => this.#waiting.push({ schema, enter, leave }))
  }

  /** One that has compiled this schema, else any. */
  #idleFor(schema: KnownSchema): SchemaChecker | null {
    for (const checker of this.#idle.keys()) if (!checker.alive) this.#drop(checker)
    const idle = [...this.#idle.keys()]
    return idle.find((checker) => checker.knows(schema)) ?? idle[0] ?? null
  }

  #wake(checker: SchemaChecker): SchemaChecker {
    clearTimeout(this.#idle.get(checker))
    this.#idle.delete(checker)
    checker.idle(false)
    return checker
  }

  async #start(): Promise<SchemaChecker> {
    const checker = new SchemaChecker(this.#limits)
    this.#all.add(checker)
    try {
      await checker.ready()
      return checker
    } catch (error) {
      this.#drop(checker)
      await checker.stop()
      this.#startForWaiting()
      throw error
    }
  }

  #free(checker: SchemaChecker): void {
    if (this.#stopped) return
    if (!checker.alive) {
      this.#drop(checker)
      this.#startForWaiting()
      return
    }
    const next = this.#waiting.shift()
    if (next !== undefined) return next.enter(checker)
    checker.idle(true)
    const end = () => {
      this.#drop(checker)
      void checker.stop()
    }
    this.#idle.set(checker, setTimeout(end, this.#idleMs).unref())
  }

  #startForWaiting(): void {
    const next = this.#waiting.shift()
    if (next !== undefined) this.#start().then(next.enter, next.leave)
  }

  #drop(checker: SchemaChecker): void {
    clearTimeout(this.#idle.get(checker))
    this.#idle.delete(checker)
    this.#all.delete(checker)
  }
}

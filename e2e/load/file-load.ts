import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { toFile, toStreamingFile, type OpenAI } from 'openai'

const TICK_MS = 100
/** More than this in hand means that the server has stopped answering; the load then waits instead of piling up. */
const IN_FLIGHT_MAX = 100
const FAILURES_KEPT_MAX = 20
const LIST_LIMIT = 20
/** The SDK sends what comes from a stream once, whatever its retries are. */
const STREAMED_EVERY = 3

/** Ten requests in this order, again and again: files grow in number, and every operation is met often. */
const MIX = [
  'create',
  'retrieve',
  'create',
  'list',
  'content',
  'create',
  'retrieve',
  'delete',
  'create',
  'retrieve',
] as const
type Action = (typeof MIX)[number]

interface MadeFile {
  readonly id: string
  readonly filename: string
  readonly text: string
}

export interface Failure {
  readonly action: Action
  readonly afterMs: number
  readonly error: string
}

export interface LoadOptions {
  readonly client: OpenAI
  readonly requestsPerSecond: number
  /** Begins every name, so that loads of one project can be told apart. */
  readonly prefix: string
}

/** A steady load of the files API, which remembers what it was promised. */
export class FileLoad {
  readonly latenciesMs: number[] = []
  readonly failures: Failure[] = []
  failed = 0
  /** Files that exist and that no request of ours is using. */
  readonly #idle: MadeFile[] = []
  readonly #deleted = new Set<string>()
  /** Names of creates and ids of deletes that failed: they may have been carried out or not. */
  readonly #unsure = new Set<string>()
  readonly #options: LoadOptions
  #began = 0
  #sent = 0
  #inFlight = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  get requests(): number {
    return this.latenciesMs.length
  }

  /** Sends requests until told to stop, then waits for those in hand. */
  async run(signal: AbortSignal): Promise<void> {
    this.#began = performance.now()
    const perTick = Math.max(1, Math.round((this.#options.requestsPerSecond * TICK_MS) / 1_000))
    const running = new Set<Promise<void>>()
    while (!signal.aborted) {
      // Several at once, so that several connections are open and idle when a node ends.
      for (let count = 0; count < perTick && this.#inFlight < IN_FLIGHT_MAX; count += 1) {
        const one = this.#one().finally(() => running.delete(one))
        running.add(one)
      }
      await delay(TICK_MS)
    }
    await Promise.all(running)
  }

  async #one(): Promise<void> {
    const wanted = MIX[this.#sent % MIX.length] ?? 'create'
    this.#sent += 1
    const number = this.#sent
    const file = wanted === 'create' || wanted === 'list' ? null : this.#takeIdle(number)
    const action = wanted !== 'list' && file === null ? 'create' : wanted
    const began = performance.now()
    this.#inFlight += 1
    try {
      if (file !== null) await this.#use(action, file)
      else if (action === 'list') await this.#list()
      else await this.#create(`${this.#options.prefix}-${number}.txt`, number % STREAMED_EVERY === 0)
    } catch (error) {
      this.#fail({ action, afterMs: Math.round(began - this.#began), error: describe(error) })
    } finally {
      this.#inFlight -= 1
      this.latenciesMs.push(performance.now() - began)
    }
  }

  #takeIdle(number: number): MadeFile | null {
    const at = (number * 7_919) % Math.max(1, this.#idle.length)
    return this.#idle.splice(at, 1)[0] ?? null
  }

  async #create(filename: string, streamed: boolean): Promise<void> {
    const text = `content of ${filename}`
    const { client } = this.#options
    this.#unsure.add(filename)
    const bytes = Buffer.from(text)
    const file = streamed ? toStreamingFile(inPieces(bytes), filename) : await toFile(bytes, filename)
    const { id } = await client.files.create({ file, purpose: 'user_data' })
    this.#unsure.delete(filename)
    this.#idle.push({ id, filename, text })
  }

  async #list(): Promise<void> {
    const page = await this.#options.client.files.list({ limit: LIST_LIMIT })
    assert.ok(page.data.length <= LIST_LIMIT)
  }

  async #use(action: Action, file: MadeFile): Promise<void> {
    const { files } = this.#options.client
    if (action === 'delete') {
      this.#unsure.add(file.id)
      await files.delete(file.id)
      this.#unsure.delete(file.id)
      this.#deleted.add(file.id)
      return
    }
    try {
      if (action === 'content') assert.equal(await (await files.content(file.id)).text(), file.text)
      else assert.equal((await files.retrieve(file.id)).filename, file.filename)
    } finally {
      // Whatever the answer, the file was promised and must be there in the end.
      this.#idle.push(file)
    }
  }

  #fail(failure: Failure): void {
    this.failed += 1
    if (this.failures.length < FAILURES_KEPT_MAX) this.failures.push(failure)
  }

  /** What the server holds, against what it promised. */
  async check(): Promise<{ made: number; missing: number; twice: number; undead: number; unsure: number }> {
    const { client, prefix } = this.#options
    const ids = new Set<string>()
    const names = new Map<string, number>()
    for await (const { id, filename } of client.files.list({ limit: 1_000 }, { maxRetries: 5 })) {
      if (!filename.startsWith(`${prefix}-`)) continue
      ids.add(id)
      names.set(filename, (names.get(filename) ?? 0) + 1)
    }
    return {
      made: this.#idle.length + this.#deleted.size,
      missing: this.#idle.filter(({ id }) => !ids.has(id)).length,
      twice: [...names.values()].filter((count) => count > 1).length,
      undead: [...this.#deleted].filter((id) => ids.has(id)).length,
      unsure: this.#unsure.size,
    }
  }
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  const middle = bytes.length >> 1
  yield bytes.subarray(0, middle)
  yield bytes.subarray(middle)
}

function describe(error: unknown): string {
  const parts: string[] = []
  for (let at = error; at instanceof Error && parts.length < 4; at = at.cause) {
    const code = (at as NodeJS.ErrnoException).code
    parts.push(`${at.name}: ${at.message}${typeof code === 'string' ? ` (${code})` : ''}`)
  }
  return parts.length === 0 ? String(error) : parts.join(' ← ')
}

/** The latency that a share of the requests stays below. */
export function percentileMs(latenciesMs: readonly number[], share: number): number {
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}

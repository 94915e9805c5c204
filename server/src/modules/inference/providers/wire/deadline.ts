import { faultOfConnection, hung } from './wire-fault.ts'

/** Ends a request when its time has passed or its caller is gone, and remembers which. */
export class Deadline {
  readonly #over = new AbortController()
  readonly #caller: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #onAbort = () => this.#over.abort()
  #late = false

  constructor(ms: number, caller: AbortSignal) {
    caller.throwIfAborted()
    this.#caller = caller
    caller.addEventListener('abort', this.#onAbort)
    this.#timer = setTimeout(() => {
      this.#late = true
      this.#over.abort()
    }, ms)
  }

  get signal(): AbortSignal {
    return this.#over.signal
  }

  /** Stops the clock; the caller's going is still noticed while the request is read. */
  stopClock(): void {
    clearTimeout(this.#timer)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#caller.removeEventListener('abort', this.#onAbort)
  }

  meaning(error: unknown): unknown {
    if (this.#caller.aborted) return this.#caller.reason
    return this.#late ? hung(error) : faultOfConnection(error)
  }
}

import { SteppedAside, type Door } from '#platform/durable/work-rows.ts'

export interface WindowBounds {
  /** A call that waits for its limits for longer says that there are more of them than the limits have room for. */
  readonly slowMs: number
  /** One that waits for less says that there could be more. */
  readonly quickMs: number
  /** So many rows of a chunk wait for their limits, however long. */
  readonly widthMin: number
}

const bounds: WindowBounds = { slowMs: 1_000, quickMs: 250, widthMin: 4 }

/** One row's way through the window. */
export interface Ticket {
  /** Waits until the limits let a call in. Throws SteppedAside when others are in front and its slot is better used. */
  letIn<Given>(ask: (signal: AbortSignal) => Promise<Given>, signals: TicketSignals): Promise<Given>
}

export interface TicketSignals {
  /** Ends the row. */
  readonly signal: AbortSignal
  /** No row is begun any more; one that has not been let in has not begun. */
  readonly stop: AbortSignal
}

/**
 * How many rows of a chunk wait for their limits at once. A row in hand has a slot of this process, and a limit may let in
 * three a minute: without a bound the rows of one project would sit on all slots while others could use them. It
 * narrows as soon as a wait is long, and widens with every short one.
 */
export class LimitWindow implements Door<Ticket> {
  #width = Number.POSITIVE_INFINITY
  /** Rows that have begun and are not let in, in their order. */
  readonly #before = new Set<Ticket>()
  readonly #outside = new Set<() => void>()
  readonly #bounds: WindowBounds

  constructor(only: Partial<WindowBounds> = {}) {
    this.#bounds = { ...bounds, ...only }
  }

  /** Null when the signal came first. */
  async enter(stop: AbortSignal): Promise<Ticket | null> {
    if (stop.aborted) return null
    if (this.#before.size >= this.#width && !(await this.#room(stop))) return null
    const row: Ticket = { letIn: (ask, signals) => this.#letIn(row, ask, signals) }
    this.#before.add(row)
    return row
  }

  leave(ticket: Ticket): void {
    this.#before.delete(ticket)
    this.#wake()
  }

  async #letIn<Given>(
    row: Ticket,
    ask: (signal: AbortSignal) => Promise<Given>,
    { signal, stop }: TicketSignals,
  ): Promise<Given> {
    const aside = new AbortController()
    const stepAside = () => aside.abort(new SteppedAside())
    const slow = setTimeout(() => {
      this.#width = Math.min(this.#width, this.#bounds.widthMin)
      if ([...this.#before].indexOf(row) >= this.#width) stepAside()
    }, this.#bounds.slowMs)
    stop.addEventListener('abort', stepAside, { once: true })
    this.#before.add(row)
    const since = performance.now()
    try {
      if (stop.aborted) stepAside()
      const given = await ask(AbortSignal.any([signal, aside.signal]))
      if (performance.now() - since < this.#bounds.quickMs) this.#width += 1
      return given
    } finally {
      clearTimeout(slow)
      stop.removeEventListener('abort', stepAside)
      this.leave(row)
    }
  }

  #wake(): void {
    let room = this.#width - this.#before.size
    for (const enter of this.#outside) {
      if (room <= 0) return
      room -= 1
      enter()
    }
  }

  async #room(stop: AbortSignal): Promise<boolean> {
    while (this.#before.size >= this.#width) {
      const entered = await new Promise<boolean>((resolve) => {
        const over = (value: boolean) => {
          this.#outside.delete(enter)
          stop.removeEventListener('abort', giveUp)
          resolve(value)
        }
        const enter = () => over(true)
        const giveUp = () => over(false)
        this.#outside.add(enter)
        stop.addEventListener('abort', giveUp, { once: true })
      })
      if (!entered) return false
    }
    return true
  }
}

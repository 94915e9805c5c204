import type { Box } from './box.ts'
import { commandName } from './ledger.ts'
import { runCommand, type CommandUses } from './run-command.ts'
import { Spool } from './spool.ts'
import type { CancelInput, ExecuteEvent, ExecuteInput } from './wire.ts'

const eventsHeldMax = 10_000

interface Running {
  readonly containerId: string
  readonly responseId: string
  readonly box: Box
  name: string
  cancelled: boolean
}

/** Runs the commands of calls: one call of a container at a time, its commands in order. */
export class Executor {
  readonly #use: CommandUses
  readonly #claim: (order: ExecuteInput['order']) => Promise<Box>
  readonly #lines = new Map<string, Promise<unknown>>()
  readonly #running = new Set<Running>()

  constructor(use: CommandUses, claim: (order: ExecuteInput['order']) => Promise<Box>) {
    this.#use = use
    this.#claim = claim
  }

  /**
   * Told as it goes. Whoever asked may go away: the call goes on to its end, and asking again for the same call goes on
   * with it.
   */
  execute(input: ExecuteInput): AsyncIterable<ExecuteEvent> {
    const events = new EventPipe<ExecuteEvent>()
    const { containerId } = input.order
    const before = this.#lines.get(containerId) ?? Promise.resolve()
    const line = before
      .catch(() => undefined)
      .then(() => this.#runAll(input, (event) => events.push(event)))
      .then(
        () => events.end(),
        (error: unknown) => events.fail(error),
      )
      .finally(() => {
        if (this.#lines.get(containerId) === line) this.#lines.delete(containerId)
      })
    this.#lines.set(containerId, line)
    return events
  }

  async #runAll(input: ExecuteInput, tell: (event: ExecuteEvent) => void): Promise<void> {
    const { callId, responseId, commands, timeoutMs, order } = input
    const box = await this.#claim(order)
    const running: Running = { containerId: order.containerId, responseId, box, name: '', cancelled: false }
    this.#running.add(running)
    try {
      for (const [index, text] of commands.entries()) {
        if (running.cancelled) break
        running.name = commandName(callId, index)
        const result = await runCommand(this.#use, box, { callId, index, text, timeoutMs }, (printed) =>
          tell({ kind: 'output', index, ...printed }),
        )
        tell({ kind: 'result', index, result })
      }
      tell({ kind: 'end' })
    } finally {
      this.#running.delete(running)
    }
  }

  /** Ends what a response has running. What waits in line for it is not begun. */
  async cancel({ containerId, responseId }: CancelInput): Promise<void> {
    for (const running of this.#running) {
      if (running.containerId !== containerId || running.responseId !== responseId) continue
      running.cancelled = true
      await new Spool(running.box.folder.spool, running.name).cancel()
    }
  }
}

/** From one who tells to one who listens, when there is one. Output that nobody takes is dropped; results are kept. */
class EventPipe<Event extends { kind: string }> implements AsyncIterable<Event> {
  readonly #events: Event[] = []
  #wake: () => void = () => undefined
  #over: { error?: unknown } | null = null

  push(event: Event): void {
    // A reader that is gone must not make the host grow: the result has all of it anyway.
    if (this.#events.length >= eventsHeldMax && event.kind === 'output') return
    this.#events.push(event)
    this.#wake()
  }

  end(): void {
    this.#over = {}
    this.#wake()
  }

  fail(error: unknown): void {
    this.#over = { error }
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    for (;;) {
      yield* this.#events.splice(0)
      if (this.#events.length > 0) continue
      if (this.#over !== null) {
        if ('error' in this.#over) throw this.#over.error
        return
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

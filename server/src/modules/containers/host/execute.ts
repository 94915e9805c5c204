import { Fault } from '#platform/errors/fault.ts'
import { failureOf } from '#platform/mesh/listener.ts'
import type { Box } from './box.ts'
import { commandName } from './ledger.ts'
import { runCommand, type CommandUses } from './run-command.ts'
import { Spool } from './spool.ts'
import type { CancelInput, ExecuteEvent, ExecuteInput } from './wire.ts'

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
  readonly #calls = new Map<string, CallLog>()
  readonly #running = new Set<Running>()

  constructor(use: CommandUses, claim: (order: ExecuteInput['order']) => Promise<Box>) {
    this.#use = use
    this.#claim = claim
  }

  /**
   * Told as it goes. Whoever asked may go away: the call goes on to its end, and whoever asks for the same call again
   * hears it from its beginning.
   */
  execute(input: ExecuteInput): AsyncIterable<ExecuteEvent> {
    const { containerId } = input.order
    const key = `${containerId}:${input.callId}`
    const running = this.#calls.get(key)
    if (running !== undefined) return running.listen()
    const log = new CallLog()
    this.#calls.set(key, log)
    const before = this.#lines.get(containerId) ?? Promise.resolve()
    const line = before
      .then(() => this.#runAll(input, (event) => log.tell(event)))
      .then(
        () => log.end(),
        (error: unknown) => log.fail(error),
      )
      .finally(() => {
        this.#calls.delete(key)
        if (this.#lines.get(containerId) === line) this.#lines.delete(containerId)
      })
    this.#lines.set(containerId, line)
    return log.listen()
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

/** What a call has said so far, for as many as want to hear it. Bounded by what commands may print. */
class CallLog {
  readonly #events: ExecuteEvent[] = []
  readonly #waiting = new Set<() => void>()
  #over: { readonly error?: unknown } | null = null

  tell(event: ExecuteEvent): void {
    this.#events.push(event)
    this.#wake()
  }

  end(): void {
    this.#over = {}
    this.#wake()
  }

  fail(error: unknown): void {
    if (error instanceof Fault) this.#events.push({ kind: 'failure', failure: failureOf(error) })
    this.#over = error instanceof Fault ? {} : { error }
    this.#wake()
  }

  async *listen(): AsyncGenerator<ExecuteEvent> {
    for (let at = 0; ;) {
      const event = this.#events[at]
      if (event !== undefined) {
        at += 1
        yield event
        continue
      }
      if (this.#over !== null) {
        if ('error' in this.#over) throw this.#over.error
        return
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

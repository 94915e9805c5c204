import { Fault } from '#platform/errors/fault.ts'
import { failureOf } from '#platform/mesh/listener.ts'
import type { Box } from './box.ts'
import { commandName } from './ledger.ts'
import { runCommand, type CommandUses } from './run-command.ts'
import { captureBytes, Spool } from './spool.ts'
import type { CancelInput, ExecuteEvent, ExecuteInput } from './wire.ts'

/** A call with many loud commands keeps less of each: all of it is held until the call is over. */
const callBytesMax = 16 * 1024 * 1024
const captureBytesMin = 4 * 1024

interface Call {
  readonly containerId: string
  readonly responseId: string
  readonly log: CallLog
  /** What runs now; null while it waits in line. */
  current: { readonly box: Box; readonly name: string } | null
  cancelled: boolean
}

/** Runs the commands of calls: one call of a container at a time, its commands in order. */
export class Executor {
  readonly #use: CommandUses
  readonly #claim: (order: ExecuteInput['order']) => Promise<Box>
  readonly #find: (containerId: string) => Box | undefined
  readonly #lines = new Map<string, Promise<unknown>>()
  readonly #calls = new Map<string, Call>()

  constructor(
    use: CommandUses,
    claim: (order: ExecuteInput['order']) => Promise<Box>,
    find: (containerId: string) => Box | undefined = () => undefined,
  ) {
    this.#use = use
    this.#claim = claim
    this.#find = find
  }

  /**
   * Told as it goes. Whoever asked may go away: the call goes on to its end, and whoever asks for the same call again
   * hears it from its beginning.
   */
  execute(input: ExecuteInput): AsyncIterable<ExecuteEvent> {
    const { containerId } = input.order
    const key = `${containerId}:${input.callId}`
    const known = this.#calls.get(key)
    if (known !== undefined) return known.log.listen()
    const log = new CallLog()
    const call: Call = { containerId, responseId: input.responseId, log, current: null, cancelled: false }
    this.#calls.set(key, call)
    const before = this.#lines.get(containerId) ?? Promise.resolve()
    const line = before
      .then(() => this.#runAll(input, call))
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

  async #runAll({ responseId, callId, commands, timeoutMs, order }: ExecuteInput, call: Call): Promise<void> {
    if (call.cancelled) return
    const box = await this.#claim(order)
    let said = 0
    for (const [index, text] of commands.entries()) {
      if (call.cancelled) break
      call.current = { box, name: commandName(callId, index) }
      const capture = Math.max(captureBytesMin, Math.min(captureBytes, callBytesMax - said))
      const command = {
        responseId,
        callId,
        index,
        text,
        timeoutMs,
        captureBytes: capture,
        isCancelled: () => call.cancelled,
      }
      const result = await runCommand(this.#use, box, command, (printed) =>
        call.log.tell({ kind: 'output', index, ...printed }),
      )
      said += result.stdout.length + result.stderr.length
      call.log.tell({ kind: 'result', index, result })
    }
    call.log.tell({ kind: 'end' })
  }

  /** Ends what a response has running. What waits in line for it is not begun. */
  async cancel({ containerId, responseId }: CancelInput): Promise<void> {
    for (const call of this.#calls.values()) {
      if (call.containerId !== containerId || call.responseId !== responseId) continue
      call.cancelled = true
      if (call.current !== null) await new Spool(call.current.box.folder.spool, call.current.name).cancel()
    }
    // Also what an earlier process began: nobody has asked this one for it.
    const box = this.#find(containerId)
    if (box === undefined) return
    for (const name of await box.ledger.listOpen(responseId)) await new Spool(box.folder.spool, name).cancel()
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

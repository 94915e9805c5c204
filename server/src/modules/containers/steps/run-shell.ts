import { faultOf } from '#platform/mesh/mesh.ts'
import { bounded } from '#platform/std/clock.ts'
import { hostCommands, type CancelInput, type ExecuteEvent, type ExecuteInput } from '../host/wire.ts'
import type { CommandResult } from '../host/ledger.ts'
import { touchContainer } from '../store/containers.ts'
import { commandPatienceMs, reachHost, type ReachUses } from './reach-host.ts'

export interface ShellCall {
  readonly containerId: string
  readonly responseId: string
  readonly callId: string
  readonly commands: readonly string[]
  readonly timeoutMs: number
}

export interface ShellListener {
  readonly signal: AbortSignal
  /** Whether the commands are to end when the signal comes: not when somebody else goes on with them. */
  readonly endOnAbort: boolean
  /** What a command has printed since the last time. */
  onOutput(index: number, printed: { stdout?: string; stderr?: string }): void
}

export interface ShellEntries {
  readonly entries: readonly Pick<CommandResult, 'stdout' | 'stderr' | 'outcome'>[]
  /** False when a command was interrupted. */
  readonly complete: boolean
}

const cancelMs = 10_000

/** Runs the commands of a call in its container, which starts now if it has not yet. Asked again, nothing runs twice. */
export async function runShell(use: ReachUses, call: ShellCall, listener: ShellListener): Promise<ShellEntries> {
  const { containerId, ...rest } = call
  const { signal } = listener
  const known = await touchContainer(use.db, containerId)
  const cancel = () => {
    if (!listener.endOnAbort) return
    const input: CancelInput = { containerId, responseId: call.responseId }
    bounded(cancelMs, () =>
      reachHost(use, containerId, (owner) => use.mesh.ask(owner, hostCommands.cancel, { input })),
    ).catch(() => undefined)
  }
  signal.addEventListener('abort', cancel, { once: true })
  const told = new Told()
  try {
    const results = await reachHost(
      use,
      containerId,
      async (owner, order) => {
        const input: ExecuteInput = { order, ...rest }
        const { events } = await use.mesh.ask(owner, hostCommands.execute, { input, signal })
        return await collect(events() as AsyncIterable<ExecuteEvent>, told, listener)
      },
      { signal, patienceMs: commandPatienceMs, known },
    )
    await touchContainer(use.db, containerId)
    return {
      entries: results.map(({ stdout, stderr, outcome }) => ({ stdout, stderr, outcome })),
      complete: results.length === call.commands.length && results.every(({ interrupted }) => !interrupted),
    }
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function collect(
  events: AsyncIterable<ExecuteEvent>,
  told: Told,
  { onOutput, signal }: ShellListener,
): Promise<CommandResult[]> {
  const results: CommandResult[] = []
  told.again()
  for await (const event of events) {
    if (signal.aborted) break
    if (event.kind === 'failure') throw faultOf(event.failure)
    if (event.kind === 'result') results[event.index] = event.result
    if (event.kind !== 'output') continue
    const printed = told.unseen(event)
    if (printed !== null) onOutput(event.index, printed)
  }
  return results
}

/** A host that is asked again tells from the beginning: what was passed on before is left out. */
class Told {
  readonly #passed = new Map<string, number>()
  #seen = new Map<string, number>()

  again(): void {
    this.#seen = new Map()
  }

  unseen({
    index,
    stdout,
    stderr,
  }: Extract<ExecuteEvent, { kind: 'output' }>): { stdout?: string; stderr?: string } | null {
    const rest = { stdout: this.#cut(`${index}o`, stdout ?? ''), stderr: this.#cut(`${index}e`, stderr ?? '') }
    if (rest.stdout === '' && rest.stderr === '') return null
    return {
      ...(rest.stdout === '' ? {} : { stdout: rest.stdout }),
      ...(rest.stderr === '' ? {} : { stderr: rest.stderr }),
    }
  }

  #cut(key: string, text: string): string {
    const from = this.#seen.get(key) ?? 0
    const passed = this.#passed.get(key) ?? 0
    this.#seen.set(key, from + text.length)
    this.#passed.set(key, Math.max(passed, from + text.length))
    return text.slice(Math.max(0, passed - from))
  }
}

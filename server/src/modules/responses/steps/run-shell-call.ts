import type { OutputItem, ShellOutputEntry } from '@switchyard/contracts/responses/items.ts'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import { ContainerLost, type ContainerShell } from '#modules/containers/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'
import { containerOf, effectiveTimeoutMs } from '../domain/call-item.ts'
import { clipOutput } from '../domain/clip-output.ts'
import { noUsage, type Ending, type LiveResponse } from '../domain/live-response.ts'
import type { ShellCallItem } from '../domain/next-move.ts'
import type { ToldShellOutput } from '../domain/open-items.ts'
import type { Telling } from './take-turn.ts'

export interface ShellCallOptions {
  readonly tell: boolean
  readonly signal: AbortSignal
  /** Whether commands end with the signal: not when another attempt goes on with them. */
  readonly endOnAbort: boolean
  /** What an attempt that died showed of the same call's output: this one goes on with it. */
  readonly shown?: ToldShellOutput | null
}

/** One hosted shell call, told as it goes. */
export async function* runShellCall(
  use: { readonly shell: ContainerShell },
  live: LiveResponse,
  call: ShellCallItem,
  { tell, signal, shown = null, endOnAbort }: ShellCallOptions,
): Telling {
  const at = {
    item_id: shown?.item.id ?? newId('sho_'),
    output_index: shown?.outputIndex ?? live.nextOutputIndex,
  }
  const nextOutputIndex = Math.max(live.nextOutputIndex, at.output_index + 1)
  if (shown?.done === true) return { items: [shown.item], usage: noUsage, nextOutputIndex, ending: null }
  const max = call.action.max_output_length ?? null
  const item = (status: 'in_progress' | 'completed' | 'incomplete', output: ShellOutputEntry[]): OutputItem => ({
    type: 'shell_call_output',
    id: at.item_id,
    call_id: call.call_id,
    status,
    max_output_length: max,
    output,
  })
  const told: StreamEventBody[] = []
  let wake: () => void = () => undefined
  const say = (event: StreamEventBody) => {
    if (!tell) return
    told.push(event)
    wake()
  }
  const begun: StreamEventBody = {
    type: 'response.output_item.added',
    output_index: at.output_index,
    item: item('in_progress', []),
  }
  if (tell && shown === null) yield [begun]

  const unshown = notShownBefore(shown)
  let result: Awaited<ReturnType<ContainerShell['run']>> | undefined
  let failure: { error: unknown } | undefined
  const running = carryOut(use, live, call, {
    signal,
    endOnAbort,
    onOutput: (command_index, printed) => {
      const delta = unshown(command_index, printed)
      if (delta !== null) say({ type: 'response.shell_call_output_content.delta', ...at, command_index, delta })
    },
  })
    .then(
      (value) => void (result = value),
      (error: unknown) => void (failure = { error }),
    )
    .finally(() => wake())
  while (result === undefined && failure === undefined) {
    await new Promise<void>((resolve) => {
      wake = resolve
      if (told.length > 0 || result !== undefined || failure !== undefined) resolve()
    })
    if (told.length > 0) yield told.splice(0)
  }
  await running
  const lost = failure === undefined ? null : lostEnding(failure.error)
  if (failure !== undefined && lost === null && !signal.aborted) throw failure.error

  const entries = (result?.entries ?? []).map((entry) => clipOutput(entry, max))
  for (const [command_index, entry] of entries.entries()) {
    say({ type: 'response.shell_call_output_content.done', ...at, command_index, output: [entry] })
  }
  const complete = result?.complete === true
  const ended = item(complete ? 'completed' : 'incomplete', entries)
  say({ type: 'response.output_item.done', output_index: at.output_index, item: ended })
  if (told.length > 0) yield told
  return {
    items: [ended],
    usage: noUsage,
    nextOutputIndex,
    ending: signal.aborted ? { status: 'cancelled' } : lost,
  }
}

/** Calls beyond `max_tool_calls` came in the same turn as the last that counts: they are answered, not run. */
async function carryOut(
  { shell }: { readonly shell: ContainerShell },
  { id, asked: { maxToolCalls, shellPlace }, output }: LiveResponse,
  { call_id: callId, action: { commands, timeout_ms } }: ShellCallItem,
  listener: Parameters<ContainerShell['run']>[1],
): ReturnType<ContainerShell['run']> {
  const done = output.filter(({ type }) => type === 'shell_call_output').length
  if (maxToolCalls !== null && done >= maxToolCalls) {
    const stderr = '[switchyard] The command was not run: max_tool_calls was reached.\n'
    const entry = { stdout: '', stderr, outcome: { type: 'exit' as const, exit_code: 126 } }
    return { entries: commands.map(() => entry), complete: false }
  }
  const containerId = containerOf(shellPlace)
  if (containerId === null) throw new Error('a hosted shell call was made without a container')
  const timeoutMs = effectiveTimeoutMs(timeout_ms ?? null)
  return await shell.run({ containerId, responseId: id, callId, commands, timeoutMs }, listener)
}

/** A container that is gone takes its response with it, which says why. */
function lostEnding(error: unknown): Ending | null {
  if (!(error instanceof ContainerLost) && !(error instanceof Fault)) return null
  const ending: Ending = { status: 'failed', error: { code: 'server_error', message: error.message } }
  // What the response did until then is worth more than a refusal: only what could be tried again is one.
  return error instanceof Fault ? { ...ending, cause: error } : ending
}

type Printed = { stdout?: string; stderr?: string }

/** Asked again, the shell prints from the beginning: what readers have seen already is left out. */
function notShownBefore(shown: ToldShellOutput | null): (commandIndex: number, printed: Printed) => Printed | null {
  if (shown === null) return (_index, printed) => printed
  const left = shown.shown.map((command) => ({ ...command }))
  const cut = (skip: { stdout: number; stderr: number } | undefined, stream: 'stdout' | 'stderr', text = '') => {
    const skipped = Math.min(skip?.[stream] ?? 0, text.length)
    if (skip !== undefined) skip[stream] -= skipped
    return text.slice(skipped)
  }
  return (index, { stdout, stderr }) => {
    const rest = { stdout: cut(left[index], 'stdout', stdout), stderr: cut(left[index], 'stderr', stderr) }
    if (rest.stdout === '' && rest.stderr === '') return null
    return {
      ...(rest.stdout === '' ? {} : { stdout: rest.stdout }),
      ...(rest.stderr === '' ? {} : { stderr: rest.stderr }),
    }
  }
}

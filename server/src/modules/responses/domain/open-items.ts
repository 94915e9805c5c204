import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { StreamEvent, StreamEventBody } from '@switchyard/contracts/responses/stream.ts'

type ShellOutputItem = Extract<OutputItem, { type: 'shell_call_output' }>

/**
 * The output of a shell call, as far as it was shown. A call has one output, so the next attempt goes on with this one:
 * the SDK's strict helper refuses a second for the same call.
 */
export interface ToldShellOutput {
  readonly item: ShellOutputItem
  readonly outputIndex: number
  /** It was shown to its end. */
  readonly done: boolean
  /** How much of it was shown, by command. */
  readonly shown: readonly { readonly stdout: number; readonly stderr: number }[]
}

/** What stored events tell of a step that nobody committed. */
export interface Told {
  /** The number after the last one. */
  readonly nextNumber: number
  readonly nextOutputIndex: number
  /** Items that were shown and never closed. */
  readonly open: readonly { readonly item: OutputItem; readonly outputIndex: number }[]
  readonly inProgress: boolean
  readonly shellOutput: ToldShellOutput | null
}

export function toldBy(
  lines: readonly string[],
  since: { readonly nextNumber: number; readonly nextOutputIndex: number },
): Told {
  let { nextNumber, nextOutputIndex } = since
  let inProgress = false
  let shellOutput: ToldShellOutput | null = null
  const open = new Map<number, OutputItem>()
  for (const line of lines) {
    const event = JSON.parse(line) as StreamEvent
    nextNumber = event.sequence_number + 1
    if (event.type === 'response.in_progress') inProgress = true
    if (event.type === 'response.output_item.added') {
      open.set(event.output_index, event.item)
      nextOutputIndex = Math.max(nextOutputIndex, event.output_index + 1)
    } else if (event.type === 'response.output_item.done') open.delete(event.output_index)
    shellOutput = afterEvent(shellOutput, event)
  }
  return {
    nextNumber,
    nextOutputIndex,
    inProgress,
    shellOutput,
    open: [...open].map(([outputIndex, item]) => ({ item, outputIndex })),
  }
}

function afterEvent(shown: ToldShellOutput | null, event: StreamEvent): ToldShellOutput | null {
  if (event.type === 'response.output_item.added' && event.item.type === 'shell_call_output') {
    return { item: event.item, outputIndex: event.output_index, done: false, shown: [] }
  }
  if (shown === null) return null
  if (event.type === 'response.output_item.done' && event.item.type === 'shell_call_output') {
    return { ...shown, item: event.item, done: true }
  }
  if (event.type !== 'response.shell_call_output_content.delta') return shown
  const commands = [...shown.shown]
  const { stdout, stderr } = commands[event.command_index] ?? { stdout: 0, stderr: 0 }
  commands[event.command_index] = {
    stdout: stdout + (event.delta.stdout ?? '').length,
    stderr: stderr + (event.delta.stderr ?? '').length,
  }
  return { ...shown, shown: commands }
}

/**
 * Closes what another attempt left open, but for what the next one goes on with. The items are not part of the response:
 * the next attempt makes new ones.
 */
export function closings(told: Told, kept: ToldShellOutput | null = null): StreamEventBody[] {
  const left = told.open.filter(({ outputIndex }) => outputIndex !== kept?.outputIndex)
  return left.map(({ item, outputIndex }) => ({
    type: 'response.output_item.done',
    output_index: outputIndex,
    item: item.type === 'compaction' ? item : ({ ...item, status: 'incomplete' } as OutputItem),
  }))
}

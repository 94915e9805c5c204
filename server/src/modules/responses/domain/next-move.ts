import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { Ending, LiveResponse } from './live-response.ts'

export type ShellCallItem = Extract<OutputItem, { type: 'shell_call' }>

/** One piece of work, or the end. */
export type Move =
  | { readonly kind: 'compact' }
  | { readonly kind: 'turn' }
  | { readonly kind: 'shell'; readonly call: ShellCallItem }
  | { readonly kind: 'end'; readonly ending: Ending }

/** More moves than this, and the response is going round in circles. */
export const movesMax = 200

/** What a response does next, from its items alone: so that whoever takes it over decides the same. */
export function nextMove(live: LiveResponse, contextTokens: (live: LiveResponse) => number): Move {
  if (live.turns >= movesMax) {
    return end({
      status: 'failed',
      error: { code: 'server_error', message: `The response did not come to an end within ${movesMax} steps.` },
    })
  }
  const call = nextShellCall(live.output)
  if (call !== null) return { kind: 'shell', call }
  const last = live.output.at(-1)
  const toAnswer = last === undefined || last.type === 'shell_call_output' || last.type === 'compaction'
  if (!toAnswer || live.output.some(isForClient)) return end({ status: 'completed' })
  const { compactThreshold } = live.asked
  const due =
    (live.asked.compactNow && last === undefined) ||
    (compactThreshold !== null && last?.type !== 'compaction' && contextTokens(live) > compactThreshold)
  return { kind: due ? 'compact' : 'turn' }
}

const end = (ending: Ending): Move => ({ kind: 'end', ending })

/** The first hosted shell call that has no output yet. */
export function nextShellCall(output: readonly OutputItem[]): ShellCallItem | null {
  const answered = new Set(output.flatMap((item) => (item.type === 'shell_call_output' ? [item.call_id] : [])))
  const open = output.find(
    (item): item is ShellCallItem =>
      item.type === 'shell_call' &&
      item.environment?.type === 'container_reference' &&
      item.status === 'completed' &&
      !answered.has(item.call_id),
  )
  return open ?? null
}

/** Calls that the client carries out: with one of them open, the response is over. */
function isForClient(item: OutputItem): boolean {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
    case 'apply_patch_call':
    case 'local_shell_call':
      return true
    case 'shell_call':
      return item.environment?.type !== 'container_reference'
    default:
      return false
  }
}

import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { ToolCall, ToolRef } from '#modules/inference/index.ts'

/** Where shell commands of a response run. */
export type ShellPlace =
  | { readonly type: 'local' }
  | { readonly type: 'container_reference'; readonly container_id: string }

/** The container of a hosted shell; null for one on the client's side. */
export const containerOf = (place: ShellPlace): string | null =>
  place.type === 'container_reference' ? place.container_id : null

export interface CallContext {
  readonly shellPlace: ShellPlace
}

export interface OpenedCall {
  readonly tool: ToolRef
  readonly id: string
  readonly callId: string
}

const commandTimeoutDefaultMs = 120_000
const commandTimeoutMaxMs = 600_000

/** The time limit that counts: what the model asked for, within bounds. */
export function effectiveTimeoutMs(asked: number | null): number {
  if (asked === null || asked < 1) return commandTimeoutDefaultMs
  return Math.min(asked, commandTimeoutMaxMs)
}

/** A call whose content is not there yet, or never came. */
export function openCallItem(
  { tool, id, callId }: OpenedCall,
  status: 'in_progress' | 'incomplete',
  { shellPlace }: CallContext,
): OutputItem {
  switch (tool.type) {
    case 'function':
      return { type: 'function_call', id, call_id: callId, name: tool.name, arguments: '', status }
    case 'custom':
      return { type: 'custom_tool_call', id, call_id: callId, name: tool.name, input: '', status }
    case 'shell':
      return {
        type: 'shell_call',
        id,
        call_id: callId,
        status,
        action: { commands: [], timeout_ms: commandTimeoutDefaultMs, max_output_length: null },
        environment: shellPlace,
      }
    case 'apply_patch':
    case 'local_shell':
      throw new Error(`a ${tool.type} call is not shown before it is whole`)
  }
}

/** A call as the model made it. A local shell call stays in progress until its client has answered it. */
export function callItem({ id, callId }: OpenedCall, call: ToolCall, { shellPlace }: CallContext): OutputItem {
  const made = { id, call_id: callId, status: 'completed' as const }
  switch (call.type) {
    case 'function':
      return { type: 'function_call', ...made, name: call.name, arguments: call.arguments }
    case 'custom':
      return { type: 'custom_tool_call', ...made, name: call.name, input: call.input }
    case 'shell':
      return {
        type: 'shell_call',
        ...made,
        status: shellPlace.type === 'local' ? 'in_progress' : 'completed',
        action: {
          commands: [...call.commands],
          timeout_ms: effectiveTimeoutMs(call.timeoutMs),
          max_output_length: call.maxOutputLength,
        },
        environment: shellPlace,
      }
    case 'apply_patch':
      return { type: 'apply_patch_call', ...made, operation: call.operation }
    case 'local_shell':
      return {
        type: 'local_shell_call',
        ...made,
        action: {
          type: 'exec',
          command: [...call.command],
          env: { ...call.env },
          timeout_ms: call.timeoutMs,
          user: call.user,
          working_directory: call.workingDirectory,
        },
      }
  }
}

import type { ShellOutputEntry } from '@switchyard/contracts/responses/items.ts'
import type { ShellTool } from '@switchyard/contracts/responses/tools.ts'
import type { ShellPlace } from './call-item.ts'
import type { ShellCallItem } from './next-move.ts'

export interface ShellRun {
  readonly projectId: string
  readonly responseId: string
  readonly signal: AbortSignal
  /** What a command has printed since the last time. */
  onOutput(commandIndex: number, delta: { stdout?: string; stderr?: string }): void
}

export interface ShellResult {
  readonly entries: readonly ShellOutputEntry[]
  /** False when a command was interrupted: nobody knows how far it came, and it is not run again. */
  readonly complete: boolean
}

/** The door through which shell calls are carried out on this side of the wire. */
export interface HostedShell {
  /** Reserves where the commands of a response will run. Throws a Fault when the environment cannot be had. */
  place(projectId: string, tool: ShellTool): Promise<ShellPlace>
  /** Runs the commands of a call. Asked again for the same call, it gives the same answer and runs nothing twice. */
  run(call: ShellCallItem, run: ShellRun): Promise<ShellResult>
}

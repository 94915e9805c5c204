import type { ContainerShell } from '#modules/containers/index.ts'
import type { LiveResponse } from '../domain/live-response.ts'
import type { Move } from '../domain/next-move.ts'
import { takeCompaction, type CompactUses } from './compact.ts'
import { runShellCall, type ShellCallOptions } from './run-shell-call.ts'
import { takeTurn, type TakeTurnUses, type Telling } from './take-turn.ts'

export interface MoveUses extends TakeTurnUses, CompactUses {
  readonly shell: ContainerShell
}

/** Carries out one move of a response, in the foreground and in the background alike. */
export function makeMove(
  use: MoveUses,
  live: LiveResponse,
  move: Exclude<Move, { kind: 'end' }>,
  options: ShellCallOptions,
): Telling {
  switch (move.kind) {
    case 'turn':
      return takeTurn(use, live, options)
    case 'compact':
      return takeCompaction(use, live, options)
    case 'shell':
      return runShellCall(use, live, move.call, options)
  }
}

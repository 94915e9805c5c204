import type { ContainerShell } from '#modules/containers/index.ts'
import type { Limits } from '#modules/limits/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { noUsage, type LiveResponse, type Moved } from '../domain/live-response.ts'
import type { TurnMeter } from '../domain/metering.ts'
import type { Move } from '../domain/next-move.ts'
import { takeCompaction, type CompactUses } from './compact.ts'
import { runShellCall, type ShellCallOptions } from './run-shell-call.ts'
import { takeTurn, type TakeTurnUses, type Telling } from './take-turn.ts'

export interface MoveUses extends TakeTurnUses, CompactUses {
  readonly shell: ContainerShell
  readonly limits: Limits
}

export interface MoveOptions extends ShellCallOptions {
  readonly meter: TurnMeter
}

/** Carries out one move of a response, in the foreground and in the background alike. */
export async function* makeMove(
  use: MoveUses,
  live: LiveResponse,
  move: Exclude<Move, { kind: 'end' }>,
  options: MoveOptions,
): Telling {
  if (move.kind === 'shell') return yield* runShellCall(use, live, move.call, options)
  const refused = await awaitTokens(use, live, options)
  if (refused !== null) return refused
  return yield* move.kind === 'turn' ? takeTurn(use, live, options) : takeCompaction(use, live, options)
}

/** The first model call was let in with its request. Later ones wait for their tokens; they fail only when that is no use. */
async function awaitTokens(
  { limits, context }: Pick<MoveUses, 'limits' | 'context'>,
  { projectId, metering, asked, turns, usage, ...live }: LiveResponse,
  { signal, meter }: Pick<MoveOptions, 'signal' | 'meter'>,
): Promise<Moved | null> {
  if (turns === 0 || metering === null || !metering.limited) return null
  const outputMax = asked.maxOutputTokens === null ? null : Math.max(1, asked.maxOutputTokens - usage.output_tokens)
  const inputTokens = context.tokens(projectId, asked, [...live.context, ...live.output])
  const next = { turn: turns, model: asked.model, inputTokens, outputMax }
  try {
    await limits.admitTurn(metering, next, asked.background, signal)
    meter.reserved = true
    return null
  } catch (error) {
    const nothing = { items: [], usage: noUsage, nextOutputIndex: live.nextOutputIndex }
    if (signal.aborted) return { ...nothing, ending: { status: 'cancelled' } }
    if (!(error instanceof Fault)) throw error
    const failed = { code: 'rate_limit_exceeded', message: error.message } as const
    return { ...nothing, ending: { status: 'failed', error: failed, cause: error } }
  }
}

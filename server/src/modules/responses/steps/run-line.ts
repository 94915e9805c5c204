import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { Response, Usage } from '@switchyard/contracts/responses/response.ts'
import { httpFault, ProviderFault } from '#modules/inference/index.ts'
import type { Charged } from '#modules/limits/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Ending, LiveResponse } from '../domain/live-response.ts'
import type { TurnMeter } from '../domain/metering.ts'
import { responseView } from '../domain/response-view.ts'
import { insertResponse } from '../store/lifecycle.ts'
import { accept, type Accepted, type AcceptUses } from './accept.ts'
import { closeResponse, endingNews, stateOf } from './close-response.ts'
import { keepContainer, type ForegroundUses } from './foreground.ts'
import { leaveShell } from './leave-shell.ts'
import { entriesOf } from './meter-turns.ts'
import { runInline } from './run-inline.ts'

export type LineUses = AcceptUses & ForegroundUses

/** What a client would have been told. */
export type LineReply = { readonly response: Response } | { readonly fault: Fault }

export interface LineOfBatch {
  readonly charged: Charged
  readonly body: CreateResponse
  readonly signal: AbortSignal
  /** Runs in the transaction that closes the response and writes what it used. */
  readonly commit: (tx: Tx, reply: LineReply, usage: Usage) => Promise<void>
}

/**
 * Runs a response from its first move to its end, for a line of a batch. Nothing is stored before the end: a process that
 * dies leaves no trace of the line, and whoever takes it up begins anew. Throws the provider's fault when the provider
 * turned the first turn away, and the signal's reason when it was called off; then nothing was committed.
 */
export async function runLine(use: LineUses, { charged, body, signal, commit }: LineOfBatch): Promise<void> {
  const accepted = await accept(use, { ...charged, limited: false, batch: true }, body)
  const { live } = accepted
  const keeping = keepContainer(use, live.asked.shellPlace)
  let broken: { readonly error: unknown } | null = null
  const first: { turnedAway: ProviderFault | null } = { turnedAway: null }

  async function close(ended: LiveResponse, ending: Ending, meters: readonly TurnMeter[]): Promise<Date> {
    // The end could not be committed. To end it in another way would hide that.
    if (broken !== null) throw broken.error
    clearInterval(keeping ?? undefined)
    leaveShell(use, live.id, live.asked.shellPlace, 'ended')
    first.turnedAway = refusedAtFirst(ended, ending)
    if (first.turnedAway !== null) return new Date()
    const entries = entriesOf(live, meters)
    if (signal.aborted) {
      await Promise.all(entries.map((entry) => use.limits.recordAlone(entry)))
      return new Date()
    }
    try {
      return await use.db.tx(async (tx) => {
        const state = await closeIn(use, tx, accepted, { ended, ending, entries })
        const fault = ending.status === 'failed' ? httpFault(ending.cause, 'input') : null
        await commit(tx, fault instanceof Fault ? { fault } : { response: responseView(state) }, ended.usage)
        tx.afterCommit(() => use.limits.spent(charged, entries))
        return state.completedAt ?? state.createdAt
      })
    } catch (error) {
      broken = { error }
      throw error
    }
  }

  const run = { accepted, createdAt: new Date(), tell: false, generate: true, signal, close }
  const next = await runInline(use, run).next()
  if (next.done !== true) throw new Error('a response that nobody listens to tells nothing')
  signal.throwIfAborted()
  if (first.turnedAway !== null) throw first.turnedAway
}

/** The provider had no room, and nothing was said or done yet. */
export function refusedAtFirst({ output, usage }: LiveResponse, ending: Ending): ProviderFault | null {
  if (ending.status !== 'failed' || !(ending.cause instanceof ProviderFault)) return null
  const forLoad = ending.cause.kind === 'rate_limited' || ending.cause.kind === 'unavailable'
  return forLoad && output.length === 0 && usage.total_tokens === 0 ? ending.cause : null
}

interface EndedLine {
  readonly ended: LiveResponse
  readonly ending: Ending
  readonly entries: ReturnType<typeof entriesOf>
}

/** Stored unless it asked not to be, begun and ended in one transaction. */
async function closeIn(use: LineUses, tx: Tx, accepted: Accepted, { ended, ending, entries }: EndedLine) {
  const { live, input, previousId } = accepted
  const { id, projectId, asked, metering } = live
  if (!asked.store) {
    await use.limits.record(tx, entries)
    await use.publish(tx, endingNews(projectId, id, ending))
    return stateOf(accepted, ended, new Date(), { ending, at: new Date() })
  }
  const createdAt = await insertResponse(tx, {
    id,
    projectId,
    metering,
    asked,
    previousId,
    conversationId: null,
    conversationVersion: null,
    input,
    node: use.node,
    submitted: false,
    nextNumber: 0,
  })
  const { output, usage } = ended
  const closing = { id, holder: { node: use.node }, ending, usage, entries, newItems: output, input, output }
  const row = await closeResponse(use, tx, { ...closing, conversationId: null })
  if (row === null) throw new Error('a response that was begun in this transaction can be ended in it')
  return stateOf(accepted, ended, createdAt, { ending, at: row.ended_at })
}

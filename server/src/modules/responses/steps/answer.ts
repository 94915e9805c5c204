import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import { httpFault } from '#modules/inference/index.ts'
import type { Admission, UsageEntry } from '#modules/limits/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Ending, LiveResponse } from '../domain/live-response.ts'
import { meteringFor, type TurnMeter } from '../domain/metering.ts'
import { responseView } from '../domain/response-view.ts'
import { accept, type AcceptUses } from './accept.ts'
import { stateOf } from './close-response.ts'
import { keepContainer, type ForegroundUses } from './foreground.ts'
import { leaveShell } from './leave-shell.ts'
import { entriesOf, settleTurns } from './meter-turns.ts'
import { runInline } from './run-inline.ts'
import { refusedAtFirst } from './run-line.ts'

export interface AskedAnswer {
  /** Lets its first turn in; later ones wait for their own tokens. */
  readonly admission: Admission
  readonly body: CreateResponse
  /** For a model whose provider offers it; the body of a request has no such field. */
  readonly seed: number | null
  readonly signal: AbortSignal
  /**
   * Told once, before it answers or throws, what was used: for the ledger, in the transaction that keeps what becomes of
   * it. `settle` comes after that, and gives back what was reserved and not used.
   */
  used(entries: readonly UsageEntry[], settle: () => void): void
}

/**
 * A whole answer for work of our own (a row of an eval). Nothing of it is stored, and nobody is told: both are the caller's.
 * Throws what a client would have been told when it failed, and the provider's own fault when the first turn was turned
 * away.
 */
export async function answer(
  use: AcceptUses & ForegroundUses,
  { admission, body, seed, signal, used }: AskedAnswer,
): Promise<Response> {
  const found = await accept(use, meteringFor(admission), { ...body, store: false }).catch((error: unknown) => {
    admission.leave()
    throw error
  })
  // From here on its turns are settled one by one, the first as well.
  admission.handOver()
  const live = seed === null ? found.live : { ...found.live, asked: { ...found.live.asked, seed } }
  const accepted = { ...found, live }
  const keeping = keepContainer(use, live.asked.shellPlace)
  const over: { end: { ended: LiveResponse; ending: Ending } | null } = { end: null }
  const close = async (ended: LiveResponse, ending: Ending, meters: readonly TurnMeter[]): Promise<Date> => {
    clearInterval(keeping ?? undefined)
    leaveShell(use, live.id, live.asked.shellPlace, signal.aborted ? 'stopped' : 'ended')
    const entries = entriesOf(live, meters)
    const settle = () => settleTurns(use.limits, live, meters, entries)
    // One that failed may be asked again, and must not wait for what it has reserved itself.
    const failed = ending.status === 'failed'
    if (failed) settle()
    used(entries, failed ? () => {} : settle)
    over.end = { ended, ending }
    return new Date()
  }
  await runInline(use, { accepted, createdAt: new Date(), tell: false, generate: true, signal, close }).next()
  if (over.end === null) throw new Error('a response that ran has an end')
  const { ended, ending } = over.end
  signal.throwIfAborted()
  if (ending.status === 'failed') throw refusedAtFirst(ended, ending) ?? httpFault(causeOf(ending), 'input')
  return responseView(stateOf(accepted, ended, new Date(), { ending, at: new Date() }))
}

const causeOf = ({ cause, error }: Extract<Ending, { status: 'failed' }>): unknown =>
  cause ?? new Fault('internal_error', error.message)

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
  readonly signal: AbortSignal
}

export interface Answered {
  readonly response: Response
  /** For the ledger, in the transaction that keeps the answer. */
  readonly entries: readonly UsageEntry[]
  /** Once they are in the ledger: gives back what was reserved and not used. */
  settle(): void
}

/**
 * A whole answer for work of our own (a row of an eval). Nothing of it is stored, and nobody is told: both are the caller's.
 * Throws what a client would have been told when it failed, and the provider's own fault when the first turn was turned
 * away; what it had used until then is in the ledger.
 */
export async function answer(
  use: AcceptUses & ForegroundUses,
  { admission, body, signal }: AskedAnswer,
): Promise<Answered> {
  const accepted = await accept(use, meteringFor(admission), { ...body, store: false }).catch((error: unknown) => {
    admission.leave()
    throw error
  })
  // From here on its turns are settled one by one, the first as well.
  admission.handOver()
  const { live } = accepted
  const keeping = keepContainer(use, live.asked.shellPlace)
  const over: { end: { ended: LiveResponse; ending: Ending; meters: readonly TurnMeter[] } | null } = { end: null }
  const close = async (ended: LiveResponse, ending: Ending, meters: readonly TurnMeter[]): Promise<Date> => {
    clearInterval(keeping ?? undefined)
    leaveShell(use, live.id, live.asked.shellPlace, signal.aborted ? 'stopped' : 'ended')
    over.end = { ended, ending, meters }
    return new Date()
  }
  await runInline(use, { accepted, createdAt: new Date(), tell: false, generate: true, signal, close }).next()
  if (over.end === null) throw new Error('a response that ran has an end')
  const { ended, ending, meters } = over.end
  const entries = entriesOf(live, meters)
  const settle = () => settleTurns(use.limits, live, meters, entries)
  if (!signal.aborted && ending.status !== 'failed') {
    return { response: responseView(stateOf(accepted, ended, new Date(), { ending, at: new Date() })), entries, settle }
  }
  try {
    await Promise.all(entries.map((entry) => use.limits.recordAlone(entry)))
  } finally {
    settle()
  }
  signal.throwIfAborted()
  throw refusedAtFirst(ended, ending) ?? httpFault(causeOf(ending), 'input')
}

const causeOf = (ending: Ending): unknown =>
  (ending.status === 'failed' && ending.cause) ||
  new Fault('internal_error', ending.status === 'failed' ? ending.error.message : 'The response was stopped.')

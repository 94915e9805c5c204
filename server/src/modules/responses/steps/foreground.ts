import type { UsageEntry } from '#modules/limits/index.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { containerOf, type ShellPlace } from '../domain/call-item.ts'
import type { Ending, LiveResponse } from '../domain/live-response.ts'
import type { TurnMeter } from '../domain/metering.ts'
import { responseView } from '../domain/response-view.ts'
import { ConversationBusy, insertResponse } from '../store/lifecycle.ts'
import type { ResponsesTables } from '../store/tables.ts'
import type { Accepted } from './accept.ts'
import { closeResponse, endingNews, stateOf, type CloseUses } from './close-response.ts'
import { entriesOf, settleTurns } from './meter-turns.ts'
import { leaveShell } from './leave-shell.ts'
import type { LeftOpen } from './left-open.ts'
import type { MoveUses } from './make-move.ts'
import { runInline } from './run-inline.ts'

export interface ForegroundUses extends MoveUses, CloseUses {
  readonly publishAlone: Webhooks['publishAlone']
  readonly db: Db<ResponsesTables>
  readonly log: Log
  /** This process. */
  readonly node: string
  readonly left: LeftOpen
}

export interface Foreground {
  readonly tell: boolean
  readonly generate: boolean
  readonly signal: AbortSignal
  /** The transaction that keeps the reply as well; null when nobody asked for that. */
  readonly commit: (<Reply>(decide: (tx: Tx) => Promise<Reply>) => Promise<Reply>) | null
}

/** Accepts a foreground response, stored unless it asked not to be, and gives it to run. */
export async function beginInline(
  use: ForegroundUses,
  accepted: Accepted,
  { tell, generate, signal, commit }: Foreground,
): Promise<ReturnType<typeof runInline>> {
  const { live, input, previousId, conversationId, conversationVersion } = accepted
  const { id, projectId, asked } = live
  const createdAt = asked.store
    ? await use.left.guard(
        id,
        projectId,
        orLocked(
          insertResponse(use.db, {
            id,
            projectId,
            metering: live.metering,
            asked,
            previousId,
            conversationId,
            conversationVersion,
            input,
            node: use.node,
            submitted: false,
            nextNumber: 0,
          }),
        ),
      )
    : new Date()
  const inTx = commit ?? ((decide: (tx: Tx) => Promise<unknown>) => use.db.tx(decide))

  const keeping = asked.store ? null : keepContainer(use, asked.shellPlace)

  /** Its items are stored with its end; should this process die before, the provider was asked all the same. */
  async function turnOver(meter: TurnMeter): Promise<boolean> {
    const entries = entriesOf(live, [meter])
    if (entries.length === 0) return !meter.reserved
    try {
      for (const entry of entries) await use.limits.recordAlone(entry)
    } catch (err) {
      use.log.warn({ err, responseId: id }, 'what a turn used is written with the end of its response')
      return false
    }
    settleTurns(use.limits, live, [meter], entries)
    return true
  }

  async function close(ended: LiveResponse, ending: Ending, meters: readonly TurnMeter[]): Promise<Date | null> {
    const entries = entriesOf(live, meters)
    const settle = () => settleTurns(use.limits, live, meters, entries)
    clearInterval(keeping ?? undefined)
    leaveShell(use, id, asked.shellPlace, 'ended')
    if (!asked.store && commit === null) {
      const publish = use.publishAlone(endingNews(projectId, id, ending))
      await Promise.all([publish, ...entries.map((entry) => use.limits.recordAlone(entry))]).finally(settle)
      return new Date()
    }
    let at: Date | null = null
    const closing = inTx(async (tx) => {
      at = await closeIn(tx, ended, ending, entries)
      return at === null ? null : responseView(stateOf(accepted, ended, createdAt, { ending, at }))
    })
    // Whether or not it could be written: what the turns used, they have used.
    await use.left.guard(id, projectId, closing).finally(settle)
    return at
  }

  async function closeIn(
    tx: Tx,
    { output, usage }: LiveResponse,
    ending: Ending,
    entries: readonly UsageEntry[],
  ): Promise<Date | null> {
    if (!asked.store) {
      await use.limits.record(tx, entries)
      await use.publish(tx, endingNews(projectId, id, ending))
      return new Date()
    }
    const holder = { node: use.node }
    const row = await closeResponse(use, tx, {
      id,
      holder,
      ending,
      usage,
      entries,
      newItems: output,
      input,
      output,
      conversationId,
    })
    // A sweep took this process for dead and ended the response. What it used since then was used all the same.
    if (row === null) await use.limits.record(tx, entries)
    return row?.ended_at ?? null
  }

  return runInline(use, { accepted, createdAt, tell, generate, signal, turnOver, close })
}

const keepEveryMs = 20_000

/** Of an unstored response there is no record that its container could be kept alive by. */
export function keepContainer(use: Pick<ForegroundUses, 'shell' | 'log'>, place: ShellPlace): NodeJS.Timeout | null {
  const containerId = containerOf(place)
  if (containerId === null) return null
  const keep = () => {
    use.shell.keep(containerId).catch((err: unknown) => use.log.warn({ err, containerId }, 'a container was not kept'))
  }
  return setInterval(keep, keepEveryMs)
}

const lockedRetryMs = 500

export const conversationLocked = (param: string) =>
  new Fault('conversation_locked', 'Another response is under way in this conversation.', {
    param,
    retryAfterMs: lockedRetryMs,
  })

/** A conversation takes one response at a time. */
export async function orLocked<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ConversationBusy)) throw error
    throw conversationLocked('conversation')
  }
}

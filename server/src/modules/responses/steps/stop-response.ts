import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Tokens, UsageEntry } from '#modules/limits/index.ts'
import type { Ending } from '../domain/live-response.ts'
import { charsSaid, cutOff, usageEntry } from '../domain/metering.ts'
import { nextShellCall } from '../domain/next-move.ts'
import { EventNumbers } from '../domain/number-events.ts'
import { closings, toldBy } from '../domain/open-items.ts'
import type { ResponseState } from '../domain/response-view.ts'
import { terminalEventOf } from '../domain/terminal-event.ts'
import { insertEvents, listEventsIn, type EventBatch } from '../store/events.ts'
import type { EndedRow } from '../store/lifecycle.ts'
import { meteringOf } from '../store/reservations.ts'
import { findResponse, listOwnItems } from '../store/responses.ts'
import type { ResponsesTables } from '../store/tables.ts'
import { closeResponse, type CloseUses } from './close-response.ts'
import { leaveShell, type LeaveShellUses } from './leave-shell.ts'

export interface StopUses extends CloseUses, LeaveShellUses {
  readonly db: Db<ResponsesTables>
  readonly announce: (batches: readonly EventBatch[]) => void
  readonly startNext: (tx: Tx, projectId: string) => Promise<void>
}

/**
 * Ends a response from outside: cancelled by its owner, or abandoned by a process that died. Its listeners are told, in
 * the same transaction. Returns false when it had ended already.
 */
export async function stopResponse(use: StopUses, projectId: string, id: string, ending: Ending): Promise<boolean> {
  const state = await findResponse(use.db, projectId, id)
  if (state === null) return false
  const { input, output } = await listOwnItems(use.db, id)
  return await use.db.tx(async (tx) => {
    const row = await closeResponse(use, tx, {
      id,
      conversationId: state.conversationId,
      holder: 'anybody',
      ending,
      usage: null,
      entries: [],
      newItems: [],
      input,
      output,
    })
    if (row === null) return false
    tx.afterCommit(() => leaveShell(use, id, state.asked.shellPlace, 'stopped'))
    const stored = row.background ? await storedLines(tx, id, row) : []
    // Read again: a step may have been committed since. From here on nothing changes any more.
    const last = row.background ? ((await findResponse(tx, projectId, id)) ?? state) : state
    await meterCut(use, tx, last, row, stored)
    if (row.background) {
      const batches = lastEvents(last, row, stored)
      await insertEvents(tx, batches)
      if (row.submitted) await use.startNext(tx, projectId)
      tx.afterCommit(() => use.announce(batches))
    }
    return true
  })
}

/** What was told since the last step that was committed. */
async function storedLines(tx: Tx, id: string, row: EndedRow): Promise<string[]> {
  const stored = await listEventsIn(tx, id, row.next_number)
  return stored.flatMap(({ lines }) => lines.split('\n'))
}

/** Whoever worked on it did not come to the end of a turn: what that used is counted from the events it had stored. */
async function meterCut(
  use: StopUses,
  tx: Tx,
  { asked, output }: ResponseState,
  row: EndedRow,
  stored: readonly string[],
): Promise<void> {
  const metering = meteringOf(row)
  if (metering === null) return
  const { step: turn } = row
  const used: Tokens[] = []
  // While a command runs no model is asked.
  if (row.status === 'in_progress' && nextShellCall(output) === null) {
    used.push(cutOff(charsSaid(stored)))
    const entries: UsageEntry[] = used.map((tokens) =>
      usageEntry(metering, asked.model, turn, { outcome: 'interrupted', tokens }),
    )
    await use.limits.record(tx, entries)
  }
  // A foreground response knows of no turn but its own process did, which is gone: the sweep settles what it left, each turn
  // to what the ledger has.
  if (metering.limited && row.background) {
    tx.afterCommit(() => use.limits.settleTurn(metering, turn, asked.model, used))
  }
}

/** Nobody else can write events any more: the row that allowed it is gone. */
function lastEvents(state: ResponseState, row: EndedRow, stored: readonly string[]): EventBatch[] {
  const since = { nextNumber: row.next_number, nextOutputIndex: row.next_output_index }
  // A step leaves nothing open behind it: only what was told since can be.
  const told = toldBy(stored, since)
  const numbers = new EventNumbers(told.nextNumber, false)
  const events = [...closings(told), terminalEventOf(state)].map((body) => numbers.number(body))
  return [
    {
      responseId: state.id,
      first: told.nextNumber,
      last: numbers.next - 1,
      lines: events.map((event) => JSON.stringify(event)).join('\n'),
    },
  ]
}

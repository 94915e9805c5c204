import type { Limits, UsageEntry } from '#modules/limits/index.ts'
import type { LiveResponse } from '../domain/live-response.ts'
import { TurnMeter, usageEntry } from '../domain/metering.ts'

type Metered = Pick<LiveResponse, 'metering' | 'asked'>

/** What the ledger gets: one entry for each move that called a model. */
export function entriesOf({ metering, asked }: Metered, meters: readonly TurnMeter[]): UsageEntry[] {
  if (metering === null) return []
  return meters.flatMap((meter) => {
    const used = meter.used()
    return used === null ? [] : [usageEntry(metering, asked.model, meter.turn, used)]
  })
}

/** Settles what the turns reserved to what the ledger has got for them: calls that an earlier attempt lost count as well. */
export function settleTurns(
  limits: Limits,
  { metering, asked }: Metered,
  meters: readonly TurnMeter[],
  entries: readonly UsageEntry[],
): void {
  if (metering === null || !metering.limited) return
  // Accepted and never begun: the request's own reservation is left.
  const turns = meters.length === 0 ? [new TurnMeter(0)] : meters
  for (const { reserved, turn } of turns) {
    const used = entries.filter((entry) => entry.turn === turn).map(({ tokens }) => tokens)
    if (reserved) limits.settleTurn(metering, turn, asked.model, used)
  }
}

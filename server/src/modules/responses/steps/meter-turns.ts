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

/** Settles what the turns reserved, once what they used is in the ledger. */
export function settleTurns(limits: Limits, { metering, asked }: Metered, meters: readonly TurnMeter[]): void {
  if (metering === null || !metering.limited) return
  // Accepted and never begun: the request's own reservation is left.
  const turns = meters.length === 0 ? [new TurnMeter(0)] : meters
  for (const meter of turns) {
    const used = meter.used()
    if (meter.reserved) limits.settleTurn(metering, meter.turn, asked.model, used === null ? [] : [used.tokens])
  }
}

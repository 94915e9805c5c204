import type { Tx } from '#platform/db/tx.ts'
import { countSubmitted, startWaiting } from '../store/running.ts'

export interface StartNextUses {
  readonly backgroundMax: number
  readonly submitStep: (tx: Tx, step: { id: string; step: number; generation: number }) => Promise<void>
}

/** Fills the places that a project has free with its responses that wait, oldest first. */
export function startNextOf(use: StartNextUses): (tx: Tx, projectId: string) => Promise<void> {
  return async (tx, projectId) => {
    const free = use.backgroundMax - (await countSubmitted(tx, projectId, use.backgroundMax))
    if (free <= 0) return
    for (const row of await startWaiting(tx, projectId, free)) await use.submitStep(tx, row)
  }
}

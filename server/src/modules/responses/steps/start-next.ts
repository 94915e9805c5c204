import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { countSubmitted, listWaitingProjects, startWaiting } from '../store/running.ts'
import type { ResponsesTables } from '../store/tables.ts'

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

const projectsMax = 100

/** One that began to wait while the last of its project ended was seen by neither: this finds it. */
export async function sweepWaiting(use: {
  readonly db: Db<ResponsesTables>
  readonly backgroundMax: number
  readonly startNext: (tx: Tx, projectId: string) => Promise<void>
}): Promise<number> {
  const projects = await listWaitingProjects(use.db, use.backgroundMax, projectsMax)
  for (const projectId of projects) await use.db.tx((tx) => use.startNext(tx, projectId))
  return 0
}

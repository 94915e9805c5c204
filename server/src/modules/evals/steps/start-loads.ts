import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { listWaitingLoads, lockLoads, startNextLoads } from '../store/loads.ts'
import type { EvalsTables } from '../store/tables.ts'

export interface StartLoadUses {
  readonly db: Db<EvalsTables>
  readonly submitLoad: (tx: Tx, load: SubmittedLoad) => Promise<void>
}

export interface SubmittedLoad {
  readonly id: string
  readonly generation: number
  readonly at?: Date
}

/** Sources that are read at once for one project. The runs behind them are `queued`. */
const projectLoadsMax = 2
const projectsMax = 100

/** Fills the places that a project has free with runs that wait to be loaded. */
export async function startLoads(use: StartLoadUses, tx: Tx, projectId: string): Promise<void> {
  await lockLoads(tx, projectId)
  for (const load of await startNextLoads(tx, projectId, projectLoadsMax)) await use.submitLoad(tx, load)
}

/** A run that was cancelled while it was loaded leaves its place to nobody: this finds who waits for it. */
export async function sweepWaitingLoads(use: StartLoadUses): Promise<number> {
  for (const projectId of await listWaitingLoads(use.db, projectLoadsMax, projectsMax)) {
    await use.db.tx((tx) => startLoads(use, tx, projectId))
  }
  return 0
}

import type { Db } from '../db/db.ts'
import type { Tx } from '../db/tx.ts'
import type { Chunks, SubmittedChunk } from './chunks.ts'

export interface StartUses {
  readonly chunks: Chunks
  /** Chunks of one project that may be submitted at once. */
  readonly chunksMax: number
  readonly submitChunk: (tx: Tx, chunk: SubmittedChunk & { readonly at?: Date }) => Promise<void>
}

/** Fills the places that a project has free with chunks that wait. */
export async function startChunks(use: StartUses, tx: Tx, projectId: string): Promise<void> {
  const free = use.chunksMax - (await use.chunks.countSubmitted(tx, projectId))
  for (let place = 0; place < free; place += 1) {
    const chunk = await use.chunks.startNext(tx, projectId)
    if (chunk === null) return
    await use.submitChunk(tx, chunk)
  }
}

const projectsMax = 100

/** One that began to wait while the last of its project ended was seen by neither: this finds it. */
export async function sweepWaitingChunks(
  use: StartUses & { readonly db: Pick<Db<never>, 'tx' | 'run'> },
): Promise<number> {
  for (const projectId of await use.chunks.listWaitingProjects(use.db, use.chunksMax, projectsMax)) {
    await use.db.tx((tx) => startChunks(use, tx, projectId))
  }
  return 0
}

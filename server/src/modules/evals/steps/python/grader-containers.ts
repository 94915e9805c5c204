import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { ContainerJobs } from '#modules/containers/index.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { PythonBounds } from './bounds.ts'

export interface GraderContainersUses {
  readonly jobs: ContainerJobs
  readonly log: Log
  readonly bounds: PythonBounds
}

interface Held {
  id: string | null
  busy: boolean
  usedAt: number
  idle: NodeJS.Timeout | null
}

/**
 * The containers of runs: one for each, kept for a while after its last batch. A run that has none gets the place of the
 * one that has been idle for longest; since batches are fewer than containers there always is one.
 */
export class GraderContainers {
  readonly #use: GraderContainersUses
  readonly #held = new Map<string, Held>()

  constructor(use: GraderContainersUses) {
    this.#use = use
  }

  /** For one batch. A run has one batch at a time. */
  async take(runId: string, projectId: ProjectId): Promise<string> {
    let held = this.#held.get(runId)
    if (held === undefined) {
      held = { id: null, busy: true, usedAt: Date.now(), idle: null }
      this.#held.set(runId, held)
      await this.#evict()
    }
    held.busy = true
    clearTimeout(held.idle ?? undefined)
    try {
      held.id ??= await this.#use.jobs.open({ projectId, name: 'python grader' })
    } catch (error) {
      this.#held.delete(runId)
      throw error
    }
    // Closed while it was being opened.
    if (this.#held.get(runId) !== held) await this.#close(held)
    return held.id
  }

  /** The batch is over, and the container is fit for the next. */
  giveBack(runId: string): void {
    const held = this.#held.get(runId)
    if (held === undefined) return
    held.busy = false
    held.usedAt = Date.now()
    held.idle = setTimeout(() => void this.close(runId), this.#use.bounds.idleMs).unref()
  }

  /** The next batch of the run gets another. */
  async close(runId: string): Promise<void> {
    const held = this.#held.get(runId)
    if (held === undefined) return
    this.#held.delete(runId)
    await this.#close(held)
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((runId) => this.close(runId)))
  }

  async #evict(): Promise<void> {
    if (this.#held.size <= this.#use.bounds.containersMax) return
    const idle = [...this.#held].filter(([, { busy }]) => !busy)
    const longest = idle.toSorted(([, a], [, b]) => a.usedAt - b.usedAt)[0]
    if (longest !== undefined) await this.close(longest[0])
  }

  async #close({ id, idle }: Held): Promise<void> {
    clearTimeout(idle ?? undefined)
    if (id === null) return
    const { jobs, log } = this.#use
    await jobs.close(id).catch((err: unknown) => log.warn({ err, id }, 'a container of a grader is left to expire'))
  }
}

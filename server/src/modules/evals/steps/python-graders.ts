import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { ContainerJobs } from '#modules/containers/index.ts'
import { FairSlots } from '#platform/durable/fair-slots.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { bounded } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { RowError } from '../domain/row-error.ts'
import type { Asking } from './patience.ts'
import { pythonBounds, type PythonBounds } from './python/bounds.ts'
import { GraderContainers } from './python/grader-containers.ts'
import { GraderRow } from './python/grader-row.ts'
import { GraderRun } from './python/grader-run.ts'

export interface PythonGradersUses {
  readonly jobs: ContainerJobs
  readonly log: Log
  readonly bounds?: Partial<PythonBounds>
}

export interface PythonAsked {
  readonly projectId: ProjectId
  readonly runId: string
  readonly source: string
  readonly item: unknown
  readonly sample: unknown
  readonly asking?: Asking | undefined
}

const stopMs = 10_000
/** For projects that find all batches at once to be others'. */
const reservedBatches = 2

/**
 * Runs `grade(sample, item)` of users in private containers. Rows of a run that come together are one command in the
 * run's container, each in a process of its own there.
 */
export class PythonGraders {
  readonly part: Part = { name: 'python graders', stop: () => this.#stop() }
  readonly #use: PythonGradersUses
  readonly #bounds: PythonBounds
  readonly #containers: GraderContainers
  readonly #slots: FairSlots
  readonly #runs = new Map<string, GraderRun>()
  #waitingBytes = 0
  #stopped = false

  constructor(use: PythonGradersUses) {
    this.#use = use
    this.#bounds = { ...pythonBounds, ...use.bounds }
    this.#containers = new GraderContainers({ jobs: use.jobs, log: use.log, bounds: this.#bounds })
    const { batchesAtOnce, containersMax } = this.#bounds
    const atOnce = Math.min(batchesAtOnce, containersMax)
    this.#slots = new FairSlots(atOnce, Math.min(reservedBatches, containersMax - atOnce))
  }

  /**
   * The score of one row. Throws a RowError for what the grader did, and anything else as it is once it was tried often
   * enough: then the row may be graded later.
   */
  async score({ projectId, runId, source, item, sample, asking }: PythonAsked, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted()
    const text = JSON.stringify({ item, sample })
    const bytes = Buffer.byteLength(text)
    this.#refuseLarge(bytes)
    asking?.asks('python')
    this.#refuse(bytes)
    const run = this.#runs.get(runId) ?? this.#begin(runId, projectId)
    const row = new GraderRow(text, bytes, signal, () => run.noticeGone())
    this.#waitingBytes += bytes
    try {
      run.add(source, row)
      const score = await row.score
      asking?.answered()
      return score
    } catch (error) {
      if (error instanceof RowError) asking?.answered()
      throw error
    } finally {
      this.#waitingBytes -= bytes
    }
  }

  /** The run is over: nothing of it is graded any more, and its container goes. */
  async release(runId: string): Promise<void> {
    await this.#runs.get(runId)?.end(new DOMException('The run is over.', 'AbortError'))
    await this.#containers.close(runId)
  }

  #refuseLarge(bytes: number): void {
    const { rowBytesMax } = this.#bounds
    if (bytes <= rowBytesMax) return
    const most = `a Python grader takes at most ${rowBytesMax}`
    throw new RowError('python_grader_error', `Item and sample have ${bytes} bytes together; ${most}.`)
  }

  #refuse(bytes: number): void {
    if (this.#stopped || this.#waitingBytes + bytes > this.#bounds.waitingBytesMax) {
      throw new Fault('server_overloaded', 'Too many rows wait for Python graders.', { retryAfterMs: 1_000 })
    }
  }

  #begin(runId: string, projectId: ProjectId): GraderRun {
    const use = { ...this.#use, containers: this.#containers, slots: this.#slots, bounds: this.#bounds }
    const run = new GraderRun(use, runId, projectId, () => {
      if (this.#runs.get(runId) === run) this.#runs.delete(runId)
    })
    this.#runs.set(runId, run)
    return run
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    const reason = new DOMException('The process ends.', 'AbortError')
    await bounded(stopMs, async () => {
      await Promise.all([...this.#runs.values()].map((run) => run.end(reason)))
      await this.#containers.closeAll()
    }).catch((err: unknown) => this.#use.log.warn({ err }, 'containers of graders are left to expire'))
  }
}

import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { ContainerJobs, JobResult } from '#modules/containers/index.ts'
import type { FairSlots } from '#platform/durable/fair-slots.ts'
import { Fault } from '#platform/errors/fault.ts'
import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { RowError } from '../../domain/row-error.ts'
import { BatchReport, type RowOutcome } from './batch-report.ts'
import { batchCommand, batchFile, batchFilename } from './batch-text.ts'
import { commandMs, type PythonBounds } from './bounds.ts'
import type { GraderContainers } from './grader-containers.ts'
import type { GraderRow } from './grader-row.ts'

export interface GraderRunUses {
  readonly jobs: ContainerJobs
  readonly containers: GraderContainers
  readonly slots: FairSlots
  readonly log: Log
  readonly bounds: PythonBounds
}

const pauses = { baseMs: 200, maxMs: 2_000, factor: 3, jitter: 0.3 }
/** An exit code above it says which signal ended the harness. */
const signalCode = 128
/** Of a harness that came to its end, which it would have said, and of a record that cannot be read. */
const forgedCodes = [0, 255]

/** Rows of one run that wait for its Python graders. One batch at a time, all of one source. */
export class GraderRun {
  readonly #use: GraderRunUses
  readonly #runId: string
  readonly #projectId: ProjectId
  readonly #onIdle: () => void
  /** By source; a source that had its turn goes to the end. */
  readonly #lanes = new Map<string, GraderRow[]>()
  readonly #ending = new AbortController()
  #current: { readonly rows: readonly GraderRow[]; readonly ending: AbortController } | null = null
  #working: Promise<void> | null = null

  constructor(use: GraderRunUses, runId: string, projectId: ProjectId, onIdle: () => void) {
    this.#use = use
    this.#runId = runId
    this.#projectId = projectId
    this.#onIdle = onIdle
  }

  add(source: string, row: GraderRow): void {
    if (this.#ending.signal.aborted) return row.fail(this.#ending.signal.reason)
    const lane = this.#lanes.get(source) ?? []
    lane.push(row)
    this.#lanes.set(source, lane)
    this.#working ??= this.#work()
  }

  /** Rows were given up by whoever asked: a batch that nobody waits for any more ends. */
  noticeGone(): void {
    if (this.#current?.rows.every(({ settled }) => settled) === true) this.#current.ending.abort()
  }

  /** Nothing of the run is graded any more. */
  async end(reason: unknown): Promise<void> {
    for (const rows of [...this.#lanes.values(), this.#current?.rows ?? []]) {
      for (const row of rows) if (!row.settled) row.fail(reason)
    }
    this.#ending.abort(reason)
    await this.#working
  }

  async #work(): Promise<void> {
    const { slots, bounds } = this.#use
    const { signal } = this.#ending
    await sleep(bounds.gatherMs, signal)
    for (let failures = 0; ;) {
      if (failures > 0) await sleep(backoff(pauses, failures, Math.random), signal)
      if (this.#nextSource() === null || !(await slots.take(this.#projectId, signal))) break
      try {
        const source = this.#nextSource()
        if (source !== null) failures = (await this.#grade(source)) ? 0 : failures + 1
      } finally {
        slots.free(this.#projectId)
      }
    }
    this.#working = null
    this.#onIdle()
  }

  #nextSource(): string | null {
    for (const [source, rows] of this.#lanes) {
      const waiting = rows.filter(({ settled }) => !settled)
      if (waiting.length > 0) {
        this.#lanes.set(source, waiting)
        return source
      }
      this.#lanes.delete(source)
    }
    return null
  }

  /** A row that is suspected comes first, and alone. */
  #takeBatch(source: string): GraderRow[] {
    const lane = this.#lanes.get(source) ?? []
    this.#lanes.delete(source)
    const suspect = lane.findIndex(({ losses, suspected }) => suspected || losses > 0)
    const batch = suspect < 0 ? lane.splice(0, this.#batchLength(lane)) : lane.splice(suspect, 1)
    if (lane.length > 0) this.#lanes.set(source, lane)
    return batch
  }

  #batchLength(lane: readonly GraderRow[]): number {
    const { batchRowsMax, batchBytesMax } = this.#use.bounds
    let bytes = 0
    const past = lane.findIndex((row, at) => {
      bytes += row.bytes
      return at >= batchRowsMax || (at > 0 && bytes > batchBytesMax)
    })
    return past < 0 ? lane.length : past
  }

  /** False when our own machinery failed. */
  async #grade(source: string): Promise<boolean> {
    const { jobs, containers, bounds, log } = this.#use
    const rows = this.#takeBatch(source)
    const ending = new AbortController()
    const signal = AbortSignal.any([ending.signal, this.#ending.signal])
    const report = new BatchReport(rows.length, (at, outcome) => settle(rows[at], outcome))
    this.#current = { rows, ending }
    let fit = false
    try {
      const id = await containers.take(this.#runId, this.#projectId)
      const texts = rows.map(({ text }) => text)
      await jobs.put(id, batchFilename, batchFile(source, texts, bounds), signal)
      const command = {
        text: batchCommand(),
        timeoutMs: commandMs(bounds),
        onStdout: (text: string) => report.add(text),
      }
      const result = await jobs.run(id, command, signal)
      fit = report.ended && report.spoiled === null
      if (!fit)
        log.info({ runId: this.#runId, container: id, spoiled: report.spoiled }, 'a grader spoiled its container')
      return judge(rows, report, result, bounds)
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, runId: this.#runId }, 'a batch of a Python grader broke off')
      letDown(rows, error, bounds)
      return signal.aborted
    } finally {
      this.#current = null
      if (fit) containers.giveBack(this.#runId)
      else await containers.close(this.#runId)
      this.#takeBack(source, rows)
    }
  }

  #takeBack(source: string, rows: readonly GraderRow[]): void {
    const again = rows.filter(({ settled }) => !settled)
    if (again.length > 0) this.#lanes.set(source, [...again, ...(this.#lanes.get(source) ?? [])])
  }
}

function settle(row: GraderRow | undefined, outcome: RowOutcome): void {
  if (row === undefined || row.settled) return
  if ('score' in outcome) row.pass(outcome.score)
  else row.fail(graderFailed(outcome.reason))
}

const graderFailed = (reason: string) => new RowError('python_grader_error', `The Python grader failed: ${reason}.`)

/** Where nothing was recorded, the container or its engine went away: its rows may wait. */
function notBegun(complete: boolean, why: string): Error {
  const cause = new Error(`a batch of a Python grader was not begun: ${why}`)
  return complete ? cause : new Fault('server_overloaded', 'The container of the Python grader is away.', { cause })
}

/** What is to become of the rows that have no result. False when our own machinery is to blame. */
function judge(
  rows: readonly GraderRow[],
  report: BatchReport,
  { outcome, complete, stderr }: JobResult,
  bounds: PythonBounds,
): boolean {
  const begun = report.begun === null ? undefined : rows[report.begun]
  const progressed = report.outcomes > 0
  if (report.ended && begun === undefined && progressed) return true
  if (report.ended || begun === undefined) {
    const cause = report.spoiled ?? `${JSON.stringify(outcome)} ${stderr}`
    const forged = rows.length === 1 && complete && outcome.type === 'exit' && forgedCodes.includes(outcome.exit_code)
    const error = forged ? graderFailed('it touched the record of its batch') : notBegun(complete, cause)
    letDown(progressed ? [begun] : rows, error, bounds)
    // One of them may have forged the record: each is tried alone, and whoever did it harms nobody else.
    if (complete) for (const row of rows) row.suspected = true
    return progressed
  }
  // Where the end of the harness was recorded, so was everything that it printed before it.
  const killed = complete && (outcome.type === 'timeout' || outcome.exit_code > signalCode)
  begun.losses += 1
  const isAlone = rows.length === 1 && begun.losses > 1
  if (!begun.settled && (killed || isAlone))
    begun.fail(graderFailed('it ended the process that grades, or its container'))
  return true
}

function letDown(rows: readonly (GraderRow | undefined)[], error: unknown, { triesMax }: PythonBounds): void {
  for (const row of rows) {
    if (row === undefined || row.settled) continue
    row.tries += 1
    if (row.tries >= triesMax) row.fail(error)
  }
}

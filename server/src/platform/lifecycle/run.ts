import { assert } from '../std/assert.ts'
import { bounded, TimedOut } from '../std/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Part } from './module.ts'
import { askParts } from './readiness.ts'
import type { ReadinessReport } from './readiness.ts'

export interface RunOptions {
  log: Log
  /** For all parts together to finish what is in hand. */
  drainTimeoutMs: number
  /** For each part to let go. */
  stopTimeoutMs: number
  /** For each part to start. */
  startTimeoutMs?: number
  /** For each part to say whether it is ready. */
  readyTimeoutMs?: number
}

export interface Running {
  /** Resolves when every part has started, or a stop came first. Rejects once a part failed and the others have stopped. */
  readonly started: Promise<void>
  /** Stops taking work and finishes what is in hand. True when everything was finished in time. */
  drain(): Promise<boolean>
  /** Drains, then stops every part. True when all of it went well. It never rejects, and may be called again. */
  stop(): Promise<boolean>
  readiness(): Promise<ReadinessReport>
}

const START_TIMEOUT_MS = 60_000
const READY_TIMEOUT_MS = 2_000

/** Starts the parts in order, and ends them in reverse. */
export function run(parts: readonly Part[], options: RunOptions): Running {
  const { log, drainTimeoutMs, stopTimeoutMs } = options
  const { startTimeoutMs = START_TIMEOUT_MS, readyTimeoutMs = READY_TIMEOUT_MS } = options
  assert(new Set(parts.map((part) => part.name)).size === parts.length, 'every part has a name of its own')
  const up: Part[] = []
  let state: ReadinessReport['state'] = 'starting'
  let draining: Promise<boolean> | undefined
  let stopping: Promise<boolean> | undefined
  let asking: Promise<ReadinessReport> | undefined

  const started = startParts(parts, up, { log, startTimeoutMs, stopTimeoutMs }, () => state === 'starting').then(
    () => void (state = state === 'starting' ? 'running' : state),
    (error: unknown) => {
      state = 'stopped'
      throw error
    },
  )
  const settled = started.then(
    () => true,
    () => false,
  )

  async function drainAll(): Promise<boolean> {
    state = state === 'stopped' ? 'stopped' : 'draining'
    if (!(await settled)) return true
    return drainParts(log, up, drainTimeoutMs)
  }

  async function endAll(): Promise<boolean> {
    const drained = await drain()
    if (!(await settled)) return false
    const clean = await stopAll(log, up, stopTimeoutMs)
    state = 'stopped'
    return drained && clean
  }

  async function ask(): Promise<ReadinessReport> {
    const answers = await askParts(up, readyTimeoutMs)
    for (const part of parts) answers[part.name] ??= { ok: false, detail: 'not started' }
    const ok = state === 'running' && Object.values(answers).every((answer) => answer.ok)
    return { ok, state, parts: answers }
  }

  const drain = () => (draining ??= drainAll())
  return {
    started,
    drain,
    stop: () => (stopping ??= endAll()),
    // Probes that come faster than the parts answer share one answer instead of piling up.
    readiness: () => (asking ??= ask().finally(() => (asking = undefined))),
  }
}

/** Adds each part to `up` as it starts. When one fails, those that are up are stopped before the failure is passed on. */
async function startParts(
  parts: readonly Part[],
  up: Part[],
  options: { log: Log; startTimeoutMs: number; stopTimeoutMs: number },
  goesOn: () => boolean,
): Promise<void> {
  for (const part of parts) {
    // A signal that arrives during the start ends it here instead of after it.
    if (!goesOn()) return
    try {
      await timed(options.log, part, 'start', options.startTimeoutMs)
    } catch (error) {
      // It may still come up behind our back, so it is stopped like the others.
      if (error instanceof TimedOut) up.push(part)
      await stopAll(options.log, up, options.stopTimeoutMs)
      throw new Error(`part ${part.name} did not start`, { cause: error })
    }
    up.push(part)
  }
}

/** All at once, so that no part takes new work while another one still finishes; those started last are told first. */
async function drainParts(log: Log, parts: readonly Part[], boundMs: number): Promise<boolean> {
  const ended = parts.toReversed().map((part) => tryTimed(log, part, 'drain', boundMs))
  return (await Promise.all(ended)).every(Boolean)
}

async function stopAll(log: Log, parts: readonly Part[], boundMs: number): Promise<boolean> {
  let clean = true
  for (const part of parts.toReversed()) clean = (await tryTimed(log, part, 'stop', boundMs)) && clean
  return clean
}

/** An end goes on past a part that fails to: the others must still get their turn. */
async function tryTimed(log: Log, part: Part, step: 'drain' | 'stop', boundMs: number): Promise<boolean> {
  try {
    await timed(log, part, step, boundMs)
    return true
  } catch {
    return false
  }
}

async function timed(log: Log, part: Part, step: 'start' | 'drain' | 'stop', boundMs: number): Promise<void> {
  if (part[step] === undefined) return
  const began = performance.now()
  const durationMs = () => Math.round(performance.now() - began)
  try {
    await bounded(boundMs, () => part[step]?.())
    log.info({ part: part.name, step, durationMs: durationMs() }, 'part step done')
  } catch (err) {
    log.error({ part: part.name, step, durationMs: durationMs(), err }, 'part step failed')
    throw err
  }
}

import { Script } from 'node:vm'
import { SchemaCompiler, SchemaRefused, type ItemCheck } from './compile-schema.ts'
import {
  READY,
  type CheckAnswer,
  type CheckerAsk,
  type CompileAnswer,
  type Stopped,
  type TimeLimits,
} from './schema-messages.ts'

/*
 * A process of its own for compiling schemas and checking items of strangers: it may run out of memory or be killed
 * without harm to the server. Started by schema-checker.ts, without access to the environment and to other files.
 */

/** After so long an answer with what is done is given, so that others have their turn. */
const SLICE_MS = 200

const compiler = new SchemaCompiler()
const checks = new Map<string, ItemCheck>()
const timed = new Script('globalThis.timedWork()')

/** Runs `work` and stops it after so long, wherever it is: a regular expression, too. */
function within({ clockMs, busyMs }: TimeLimits, work: () => void): { stopped: Stopped | null; usedMs: number } {
  const before = process.cpuUsage()
  const usedMs = () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  try {
    Object.assign(globalThis, { timedWork: work })
    timed.runInThisContext({ timeout: clockMs })
    return { stopped: null, usedMs: usedMs() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    const used = usedMs()
    return { stopped: used >= busyMs ? 'overran' : 'starved', usedMs: used }
  }
}

function compile(id: string, text: string, limits: TimeLimits): CompileAnswer {
  let refusal: string | null = null
  const { stopped } = within(limits, () => {
    try {
      checks.set(id, compiler.compile(JSON.parse(text) as Record<string, unknown>))
    } catch (error) {
      if (!(error instanceof SchemaRefused)) throw error
      refusal = error.message
    }
  })
  return { refusal, stopped }
}

function check(id: string, items: readonly string[], limits: TimeLimits): CheckAnswer {
  const reasons: (string | null)[] = []
  const itemCheck = checks.get(id)
  if (itemCheck === undefined) throw new Error(`The schema ${id} was not compiled here.`)
  const { stopped, usedMs } = within({ ...limits, clockMs: limits.clockMs + SLICE_MS }, () => {
    const until = performance.now() + SLICE_MS
    for (const item of items) {
      reasons.push(itemCheck(JSON.parse(item)))
      if (performance.now() > until) return
    }
  })
  return { reasons, stopped, usedMs }
}

process.on('message', (ask: CheckerAsk) => {
  if (ask.kind === 'forget') checks.delete(ask.id)
  else
    process.send?.(
      ask.kind === 'compile' ? compile(ask.id, ask.schema, ask.limits) : check(ask.id, ask.items, ask.limits),
    )
})
process.on('disconnect', () => process.exit(0))
compiler.warmUp()
process.send?.(READY)

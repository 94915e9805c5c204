import { inspect } from 'node:util'

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** What a file's process tells of one finished test. */
export interface Outcome {
  name: string
  result: keyof Counts
  ms: number
  /** The whole error, for a failure that has one of its own. */
  error?: string
}

export interface FileResult {
  path: string
  ms: number
  outcomes: Outcome[]
  /** How the process ended: its exit code, or null when a signal or the time limit ended it. */
  exitCode: number | null
  output: string
  limitMs?: number
}

/** The part of a `node:test` event that counting needs. */
export interface TestEvent {
  type: string
  data: {
    name?: string
    nesting?: number
    file?: string
    skip?: string | boolean
    todo?: string | boolean
    details?: {
      type?: string | undefined
      duration_ms?: number
      error?: Error & { failureType?: string; cause?: unknown }
    }
  }
}

/** Turns an event into an outcome, or null when it is not the end of a test. */
export function outcomeOf(event: TestEvent, file: string): Outcome | null {
  const { name = '', skip, todo, details } = event.data
  const ended = event.type === 'test:pass' || event.type === 'test:fail'
  if (!ended || details?.type === 'suite') return null
  // A file without tests is reported by the runner as one passing test named like the file.
  if (event.type === 'test:pass' && name === file) return null
  const ms = details?.duration_ms ?? 0
  if (isSet(skip) || isSet(todo)) return { name, ms, result: 'skipped' }
  if (event.type === 'test:pass') return { name, ms, result: 'passed' }
  const error = details?.error
  if (error?.failureType === 'subtestsFailed') return { name, ms, result: 'failed' }
  return { name, ms, result: 'failed', error: inspect(error?.cause ?? error, { depth: 8 }) }
}

function isSet(mark: string | boolean | undefined): boolean {
  return mark !== undefined && mark !== false
}

/** A file whose process says nothing or ends badly has failed, whatever its tests said before. */
export function fileFailure(result: FileResult): string | null {
  if (result.limitMs !== undefined) {
    return `did not end within ${result.limitMs / 1000} s: a test hangs, or a timer or socket is left open`
  }
  const failed = result.outcomes.some((outcome) => outcome.result === 'failed')
  if (result.exitCode !== 0 && !failed)
    return `ended with ${result.exitCode === null ? 'a signal' : `exit code ${result.exitCode}`}`
  if (result.outcomes.length === 0) return 'holds no test'
  return null
}

export function countOutcomes(results: readonly FileResult[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  for (const result of results) {
    for (const outcome of result.outcomes) counts[outcome.result] += 1
    if (fileFailure(result) !== null) counts.failed += 1
  }
  return counts
}

/** The plain line that a run ends with. */
export function countingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** One line for a good file; for a bad one also each failure in full and what the file printed. */
export function fileReport(result: FileResult): string {
  const failures = result.outcomes.filter((outcome) => outcome.result === 'failed')
  const broken = fileFailure(result)
  const good = failures.length === 0 && broken === null
  const tests = `${result.outcomes.length} ${result.outcomes.length === 1 ? 'test' : 'tests'}`
  const head = `${good ? 'ok  ' : 'FAIL'} ${result.path} (${tests}, ${(result.ms / 1000).toFixed(1)} s)`
  if (good) return head
  const told = failures.filter((outcome) => outcome.error !== undefined)
  return [
    head,
    ...(broken === null ? [] : [indent(`the file ${broken}`)]),
    ...told.map((outcome) => indent(`${outcome.name}\n${indent(outcome.error ?? '')}`)),
    ...(result.output.trim() === '' ? [] : [indent(`what it printed:\n${indent(result.output.trimEnd())}`)]),
  ].join('\n')
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}

import type { FileResult } from './counts.ts'

const FILES_SHOWN = 10
const TESTS_SHOWN = 10
/** A short run has nothing worth looking at. */
const WORTH_MS = 5_000

/** Where the time of a run went: its slowest files and its slowest tests, of those that took seconds. */
export function slowest(results: readonly FileResult[]): string {
  const files = results.map(({ path, ms }) => ({ name: path, ms }))
  const tests = results.flatMap(({ path, outcomes }) =>
    outcomes.map(({ name, ms }) => ({ name: `${path}: ${name}`, ms })),
  )
  return [...table('Slowest files', files, FILES_SHOWN), ...table('Slowest tests', tests, TESTS_SHOWN)].join('\n')
}

function table(title: string, entries: readonly { name: string; ms: number }[], shown: number): string[] {
  const slow = entries.filter(({ ms }) => ms >= WORTH_MS).toSorted((one, other) => other.ms - one.ms)
  if (slow.length === 0) return []
  return [title, ...slow.slice(0, shown).map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}`)]
}

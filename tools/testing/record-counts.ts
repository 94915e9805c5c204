import { appendFileSync } from 'node:fs'

/** Ends a program that proves something: the plain counting line, and a line for .ci/run to add up. */
export function recordCounts(kind: string, counts: { passed: number; failed: number }): void {
  const file = process.env['SWITCHYARD_TEST_COUNTS'] ?? ''
  if (file !== '') appendFileSync(file, `${JSON.stringify({ kind, ...counts })}\n`)
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
}

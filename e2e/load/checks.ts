import { appendFileSync } from 'node:fs'

/** What a program has proved so far, told as it goes. */
export class Checks {
  #passed = 0
  #failed = 0

  expect(promise: string, holds: boolean, detail = ''): void {
    if (holds) this.#passed += 1
    else this.#failed += 1
    console.log(`${holds ? 'ok  ' : 'FAIL'} ${promise}${detail === '' ? '' : ` (${detail})`}`)
  }

  /** Prints the counting line, adds the counts to those of the whole run, and gives the exit code. */
  finish(): number {
    const counts = { passed: this.#passed, failed: this.#failed }
    const countsFile = process.env['SWITCHYARD_TEST_COUNTS'] ?? ''
    if (countsFile !== '') appendFileSync(countsFile, `${JSON.stringify(counts)}\n`)
    console.log(`${counts.passed} passed, ${counts.failed} failed`)
    return counts.failed === 0 && counts.passed > 0 ? 0 : 1
  }
}

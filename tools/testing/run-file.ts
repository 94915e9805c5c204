import { run } from 'node:test'
import { outcomeOf } from './counts.ts'
import type { TestEvent } from './counts.ts'

/**
 * Runs one test file inside this process and sends each outcome to the process that started it. The process ends by
 * itself when nothing is left to do; when a test leaves a timer or socket behind, the parent's time limit ends it.
 */
function main(file: string): void {
  const events = run({ files: [file], isolation: 'none' })
  events.on('data', (event: TestEvent) => {
    const outcome = outcomeOf(event, file)
    if (outcome === null) return
    process.send?.(outcome)
    if (outcome.result === 'failed') process.exitCode = 1
  })
}

if (import.meta.main) main(process.argv[2] ?? '')

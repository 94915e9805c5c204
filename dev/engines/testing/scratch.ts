import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface Scratch {
  folder: string
  /** Stops what was started, before the folder goes, however the test ends. */
  own: <Started extends { stop: () => Promise<void> }>(started: Started) => Started
}

/** A folder for one test, and the end of everything started in it. */
export function scratch(t: TestContext): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-engine-'))
  chmodSync(folder, 0o755)
  const owned: { stop: () => Promise<void> }[] = []
  t.after(async () => {
    for (const started of owned.toReversed()) await started.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    own: (started) => {
      owned.push(started)
      return started
    },
  }
}

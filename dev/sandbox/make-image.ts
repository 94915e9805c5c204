import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endProcess } from '../processes.ts'
import type { ImageKind } from '../../sandbox/runtime/recipe.ts'

const program = fileURLToPath(new URL('../../sandbox/runtime/build.ts', import.meta.url))
const endBoundMs = 10_000
const saidLinesMax = 20

export interface MakingImage {
  /** Rejects with what was said last. */
  readonly made: Promise<void>
  stop(): Promise<void>
}

/** Builds the image in a process of its own, which can be ended in the middle with all that it started. */
export function makeImage(kind: ImageKind, socket: string, onProgress: (line: string) => void): MakingImage {
  const child = spawn(process.execPath, [program, kind, '--socket', socket], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.startsWith('image: ')) onProgress(line)
    said.push(line)
    if (said.length > saidLinesMax) said.shift()
  })
  const ended = once(child, 'close') as Promise<[number | null]>
  const made = ended.then(([code]) => {
    if (code !== 0) throw new Error(said.find((line) => /error/i.test(line)) ?? said.at(-1) ?? `exit code ${code}`)
  })
  made.catch(() => undefined)
  return {
    made,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      // Its group too: the builder of the root file system is a child of it.
      process.kill(-child.pid, 'SIGTERM')
      await endProcess(child.pid, 'SIGTERM', endBoundMs)
      await ended.catch(() => undefined)
    },
  }
}

import type { ContainerShell } from '#modules/containers/index.ts'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sleep } from '#platform/std/clock.ts'
import { newId } from '#platform/std/ids.ts'

export interface LedgerShellOptions {
  /** One file a call: when it was begun, then a mark for each time somebody asked for it. */
  readonly folder: string
  readonly lastsMs: number
}

const piecesOf = (text: string) => text.match(/.{1,12}/gs) ?? []

/** What a command prints; anybody can say it again. */
export const printedBy = (command: string) => `this was printed by: ${command}\n`

/**
 * A shell on a machine that survives its callers: a call begins once, lasts its time, and whoever asks for it, then or
 * later, gets the same answer.
 */
export function openLedgerShell({ folder, lastsMs }: LedgerShellOptions): ContainerShell {
  return {
    place: async () => ({ containerId: newId('cntr_'), about: '', files: [] }),
    cancel: async () => undefined,
    files: async () => [],
    keep: async () => undefined,
    release: async () => undefined,
    async run(call, { signal, onOutput }) {
      const begunAt = ask(folder, call.callId)
      const endsAt = begunAt + lastsMs
      const pieces = call.commands.flatMap((command, index) =>
        piecesOf(printedBy(command)).map((stdout) => ({ index, stdout })),
      )
      for (const [at, { index, stdout }] of pieces.entries()) {
        await sleep(Math.max(0, begunAt + ((at + 1) * lastsMs) / pieces.length - Date.now()), signal)
        signal.throwIfAborted()
        onOutput(index, { stdout })
      }
      await sleep(Math.max(0, endsAt - Date.now()), signal)
      signal.throwIfAborted()
      const entries = call.commands.map((command) => ({
        stdout: printedBy(command),
        stderr: '',
        outcome: { type: 'exit' as const, exit_code: 0 },
      }))
      return { entries, complete: true }
    },
  }
}

const stampLength = 13

/** Begins a call, or finds it begun. Returns when it began, by the clock of this machine. */
function ask(folder: string, callId: string): number {
  const file = join(folder, callId)
  try {
    appendFileSync(file, String(Date.now()), { flag: 'ax' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    appendFileSync(file, '+')
  }
  return Number(readFileSync(file, 'utf8').slice(0, stampLength))
}

export interface LedgerReport {
  /** Calls that were begun. */
  readonly calls: ReadonlySet<string>
  /** How often a call was asked for after it had begun. */
  readonly askedAgain: number
}

export function openLedger(folder: string): () => LedgerReport {
  mkdirSync(folder, { recursive: true })
  return () => {
    const calls = readdirSync(folder)
    const marks = calls.map((name) => statSync(join(folder, name)).size - stampLength)
    return { calls: new Set(calls), askedAgain: marks.reduce((sum, size) => sum + size, 0) }
  }
}

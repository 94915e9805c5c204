import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How a command ended, as the model is told. */
export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' }
  /** Nobody knows how far it came; it is not run again. */
  readonly interrupted: boolean
}

/** A name for a command that is the same for everybody who asks, and safe as a folder. */
export function commandName(callId: string, index: number): string {
  return createHash('sha256').update(`${callId}\n${index}`).digest('hex').slice(0, 32)
}

/**
 * What was begun and how it ended, on disk: a command of which it says `started` is never begun again. It outlives every
 * process, not the machine: containers do not either, and a host that finds another boot gives them up.
 */
export class Ledger {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False when it was begun before. */
  async begin(name: string): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    try {
      await using _file = await open(join(this.#folder, `${name}.started`), 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    return true
  }

  async finish(name: string, result: CommandResult): Promise<void> {
    const final = join(this.#folder, `${name}.json`)
    await writeFile(`${final}.draft`, JSON.stringify(result), { mode: 0o600 })
    await rename(`${final}.draft`, final)
  }

  async find(name: string): Promise<CommandResult | null> {
    try {
      return JSON.parse(await readFile(join(this.#folder, `${name}.json`), 'utf8')) as CommandResult
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }
}

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** How a command ended, as the model is told. */
export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' }
  /** Nobody knows how far it came; it is not run again. */
  readonly interrupted: boolean
}

/** What a box keeps of results. Its commands print on the host's disk, which their own quota does not count. */
const resultBytesMax = 64 * 1024 * 1024

const startedEnd = '.started'

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
  /** Oldest first; null until it is looked up. */
  #results: { name: string; bytes: number }[] | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** False when it was begun before. Whose it is can be asked as long as it is open. */
  async begin(name: string, responseId: string): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    try {
      await using file = await open(join(this.#folder, `${name}${startedEnd}`), 'wx', 0o600)
      await file.write(responseId)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    return true
  }

  async finish(name: string, result: CommandResult): Promise<void> {
    const final = join(this.#folder, `${name}.json`)
    const text = JSON.stringify(result)
    const results = (this.#results ??= await listResults(this.#folder))
    await writeFile(`${final}.draft`, text, { mode: 0o600 })
    await rename(`${final}.draft`, final)
    results.push({ name: `${name}.json`, bytes: Buffer.byteLength(text) })
    await this.#forgetOldest(results)
  }

  /** Whoever asks for a forgotten one is told that it was interrupted: its mark stays, and it is not run again. */
  async #forgetOldest(results: { name: string; bytes: number }[]): Promise<void> {
    let held = results.reduce((sum, { bytes }) => sum + bytes, 0)
    while (held > resultBytesMax && results.length > 1) {
      const oldest = results.shift()
      if (oldest === undefined) return
      held -= oldest.bytes
      await rm(join(this.#folder, oldest.name), { force: true })
    }
  }

  /** Commands of a response that were begun and have no end yet. */
  async listOpen(responseId: string): Promise<string[]> {
    const files = await readdir(this.#folder).catch((): string[] => [])
    const begun = files.flatMap((file) => (file.endsWith(startedEnd) ? [file.slice(0, -startedEnd.length)] : []))
    const open: string[] = []
    for (const name of begun.filter((one) => !files.includes(`${one}.json`))) {
      const text = await readFile(join(this.#folder, `${name}${startedEnd}`), 'utf8').catch(() => '')
      if (text === responseId) open.push(name)
    }
    return open
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

async function listResults(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const found = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name))
      return { name, bytes: size, mtimeMs }
    }),
  )
  return found.toSorted((a, b) => a.mtimeMs - b.mtimeMs)
}

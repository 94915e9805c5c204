import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxOrder } from '../domain/order.ts'
import { boxFolder, type BoxFolder } from './box-folder.ts'
import { Ledger } from './ledger.ts'
import { SafeFiles } from './safe-files.ts'

/** What is written beside a box, so that a restarted host knows whose it is. */
export interface BoxNote {
  readonly boxId: string
  readonly engineId: string
  readonly memoryBytes: number
  /** The machine has not been started anew since. */
  readonly bootId: string
  /** Null while it waits in the pool. */
  readonly order: BoxOrder | null
  /** Files and skills are in place: commands may run. */
  readonly filled: boolean
  /** Names under which users put files, with the time of the last change that was theirs. */
  readonly uploads: Readonly<Record<string, number>>
}

const noteName = 'box.json'

/** A container of the engine with its folder; once claimed, the machine of one container of the API. */
export class Box {
  readonly folder: BoxFolder
  readonly ledger: Ledger
  readonly files: SafeFiles
  /** What every command of this box finds in its environment. */
  env: readonly string[] = []
  /** Its machine has ended; the next command gets a new one over the same files. */
  died = false
  /** Its data is being taken away: nothing may begin any more. */
  gone = false
  /** Processes that commands left fill its limit; the next command gets a new machine. */
  crowded = false
  /** When the engine last said that it ran out of memory. */
  oomAt = 0
  note: BoxNote

  constructor(root: string, note: BoxNote) {
    this.folder = boxFolder(root)
    this.ledger = new Ledger(this.folder.commands)
    this.files = new SafeFiles(this.folder.disk)
    this.note = note
  }

  get engineId(): string {
    return this.note.engineId
  }

  async write(change: Partial<BoxNote>): Promise<void> {
    this.note = { ...this.note, ...change }
    const path = join(this.folder.root, noteName)
    await writeFile(`${path}.draft`, JSON.stringify(this.note), { mode: 0o600 })
    await rename(`${path}.draft`, path)
  }
}

/** Null when there is no note that can be read: whatever it was, it holds nothing of anybody's. */
export async function readBoxNote(root: string): Promise<BoxNote | null> {
  try {
    return JSON.parse(await readFile(join(root, noteName), 'utf8')) as BoxNote
  } catch {
    return null
  }
}

export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}

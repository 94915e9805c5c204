import { skillBytesMax } from '@switchyard/contracts/skills.ts'
import { Fault } from '#platform/errors/fault.ts'
import { arrangeFiles } from '../archive/arrange-files.ts'
import { readIdentity, type SkillIdentity } from '../archive/front-matter.ts'
import { looksLikeArchive, readArchive } from '../archive/read-archive.ts'
import { InvalidSkill, isScript, type SkillFile } from '../archive/skill-file.ts'
import { writeArchive } from '../archive/write-archive.ts'

/** Unpacking holds the archive, its files and the archive made of them at once; so many at a time, the rest wait. */
const packingMax = 2
/** Whoever comes on top of these is told to come back, rather than held with their bytes. */
const waitingMax = 64

export interface PackedSkill {
  readonly zip: Buffer
  readonly unpackedBytes: number
  readonly files: number
}

export interface SentFile {
  readonly path: string
  readonly bytes: Buffer
}

export interface Packing {
  /** A skill as it was uploaded: a folder, or one zip. It must have a `SKILL.md`, which names it. */
  upload(sent: readonly SentFile[], param: string): Promise<PackedSkill & SkillIdentity>
  /** An archive that came with a request, and needs no `SKILL.md`. */
  archive(zip: Buffer, param: string): Promise<PackedSkill>
}

/** What is kept is an archive that we wrote: nothing of how the one that was sent is built gets any further. */
export function createPacking(): Packing {
  const turns = new Turns()
  return {
    async upload(sent, param) {
      checkBytes(sent, param)
      return await turns.take(() =>
        blaming(param, async () => {
          const files = arrangeFiles(await filesOf(sent))
          return { ...readIdentity(files), ...(await packed(files)) }
        }),
      )
    },
    archive: (zip, param) =>
      turns.take(() =>
        blaming(param, async () => {
          if (zip.length > skillBytesMax) throw new InvalidSkill(`The archive has more than ${skillBytesMax} bytes.`)
          const files = arrangeFiles(await readArchive(zip))
          return await packed(files)
        }),
      ),
  }
}

function checkBytes(sent: readonly SentFile[], param: string): void {
  const bytes = sent.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes <= skillBytesMax) return
  throw new Fault('file_too_large', `The files have more than ${skillBytesMax} bytes together.`, { param })
}

async function blaming<Result>(param: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InvalidSkill) throw new Fault('invalid_skill', error.message, { param, cause: error })
    throw error
  }
}

async function packed(files: readonly SkillFile[]): Promise<PackedSkill> {
  const unpackedBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { zip: await writeArchive(files), unpackedBytes, files: files.length }
}

async function filesOf(sent: readonly SentFile[]): Promise<SkillFile[]> {
  const [first] = sent
  if (first !== undefined && sent.length === 1 && looksLikeArchive(first.bytes)) return await readArchive(first.bytes)
  return sent.map(({ path, bytes }) => ({ path, bytes, executable: isScript(bytes) }))
}

class Turns {
  #running = 0
  readonly #waiting: (() => void)[] = []

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= packingMax) {
      if (this.#waiting.length >= waitingMax) {
        throw new Fault('server_overloaded', 'Too many skills are being unpacked.', { retryAfterMs: 1_000 })
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running += 1
    try {
      return await work()
    } finally {
      // The turn is handed on, so the count stays as it is.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

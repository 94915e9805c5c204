import { skillBytesMax } from '@switchyard/contracts/skills.ts'
import { createHash } from 'node:crypto'
import { Fault } from '#platform/errors/fault.ts'
import type { IncomingFile } from '#platform/http/route.ts'

/** Skills are checked as a whole, so the files of one are held until then. All uploads of a process together: */
const heldBytesMax = 5 * skillBytesMax

interface HeldFile {
  readonly path: string
  readonly sha256: string
  readonly bytes: Buffer
}

/** The files of an upload, which count against what a process holds until they are let go. */
export interface HeldFolder {
  readonly sha256: string
  readonly files: readonly HeldFile[]
}

export interface SkillReceiver {
  receive(file: IncomingFile): Promise<HeldFolder>
  join(received: readonly HeldFolder[]): HeldFolder
  discard(folder: HeldFolder): Promise<void>
  /** Lets go what was held, once; safe to call again. */
  release(folder: HeldFolder): void
}

export function receiveSkill(): SkillReceiver {
  let held = 0
  const holdings = new WeakMap<HeldFile, number>()

  const release = ({ files }: HeldFolder) => {
    for (const file of files) {
      held -= holdings.get(file) ?? 0
      holdings.delete(file)
    }
  }

  async function receive({ filename, stream }: IncomingFile): Promise<HeldFolder> {
    const chunks: Buffer[] = []
    const hash = createHash('sha256')
    let bytes = 0
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length
        held += chunk.length
        if (held > heldBytesMax) {
          throw new Fault('server_overloaded', 'Too many skills are being uploaded.', { retryAfterMs: 1_000 })
        }
        hash.update(chunk)
        chunks.push(chunk)
      }
    } catch (error) {
      held -= bytes
      throw error
    }
    const file = { path: filename, sha256: hash.digest('hex'), bytes: Buffer.concat(chunks, bytes) }
    holdings.set(file, bytes)
    return { sha256: digestOf([file]), files: [file] }
  }

  return {
    receive,
    join(received) {
      const files = received.flatMap((folder) => folder.files)
      return { sha256: digestOf(files), files }
    },
    discard: async (folder) => release(folder),
    release,
  }
}

/** Of all names and contents, in their order. */
function digestOf(files: readonly HeldFile[]): string {
  const told = files.map(({ path, sha256 }) => [path, sha256])
  return createHash('sha256').update(JSON.stringify(told)).digest('hex')
}

import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { SkillFile } from './skill-file.ts'

const pieceBytes = 64 * 1024
const plainMode = 0o100644
const executableMode = 0o100755

/** The same files in the same order give the same bytes, whoever packs them, where and when. */
export async function writeArchive(files: readonly SkillFile[]): Promise<Buffer> {
  const archive = new ZipFile()
  // Written as local time, so the first moment that the format knows is the same in every zone.
  const mtime = new Date(1980, 0, 1)
  for (const { path, bytes, executable } of files) {
    const options = {
      mtime,
      mode: executable ? executableMode : plainMode,
      forceDosTimestamp: true,
      size: bytes.length,
    }
    // In pieces and one file after the other: packed whole, 50 MB hold up everything else for a quarter of a second.
    archive.addReadStreamLazy(path, options, (opened) =>
      opened(null, Readable.from(pieces(bytes), { objectMode: false })),
    )
  }
  archive.end()
  const output = archive.outputStream as Readable
  archive.on('error', (error: Error) => output.destroy(error))
  const chunks: Buffer[] = []
  for await (const chunk of output) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

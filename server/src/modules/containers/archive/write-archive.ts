import { ZipFile } from 'yazl'
import type { SkillFile } from './skill-file.ts'

const plainMode = 0o100644
const executableMode = 0o100755

/** The same files in the same order give the same bytes, whoever packs them, where and when. */
export async function writeArchive(files: readonly SkillFile[]): Promise<Buffer> {
  const archive = new ZipFile()
  // Written as local time, so the first moment that the format knows is the same in every zone.
  const mtime = new Date(1980, 0, 1)
  for (const { path, bytes, executable } of files) {
    archive.addBuffer(bytes, path, { mtime, mode: executable ? executableMode : plainMode, forceDosTimestamp: true })
  }
  archive.end()
  const chunks: Buffer[] = []
  for await (const chunk of archive.outputStream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

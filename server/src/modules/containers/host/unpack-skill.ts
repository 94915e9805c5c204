import { mkdir, open } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { arrangeFiles } from '../archive/arrange-files.ts'
import { readArchive } from '../archive/read-archive.ts'
import { assert } from '#platform/std/assert.ts'

const plainMode = 0o644
const executableMode = 0o755
const folderMode = 0o755

/**
 * Writes the files of a skill below a folder, which must be there and is expected to be empty: nothing that exists is
 * overwritten or followed. The archive was checked when it was stored, and is checked again.
 */
export async function unpackSkill(zip: Buffer, intoFolder: string): Promise<void> {
  for (const { path, bytes, executable } of arrangeFiles(await readArchive(zip))) {
    const target = join(intoFolder, path)
    const below = relative(intoFolder, target)
    assert(below === path.split('/').join(sep), 'a file of a skill lies below its folder')
    await mkdir(dirname(target), { recursive: true, mode: folderMode })
    // `wx` refuses what is there, links included, whatever they point to.
    const file = await open(target, 'wx', plainMode)
    try {
      await file.writeFile(bytes)
      // Set, not asked for: the umask of the process must not decide what a container can run.
      await file.chmod(executable ? executableMode : plainMode)
    } finally {
      await file.close()
    }
  }
}

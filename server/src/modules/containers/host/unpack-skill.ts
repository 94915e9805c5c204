import { chmod, mkdir, open } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { arrangeFiles } from '../archive/arrange-files.ts'
import { readArchive } from '../archive/read-archive.ts'
import { assert } from '#platform/std/assert.ts'

const plainMode = 0o644
const executableMode = 0o755
const folderMode = 0o755

/**
 * Writes the files of a skill below a folder that is there and empty: whatever already exists fails it, so that nothing
 * is overwritten and no link is followed. The archive was checked when it was stored, and is checked again.
 */
export async function unpackSkill(zip: Buffer, intoFolder: string): Promise<void> {
  const files = arrangeFiles(await readArchive(zip))
  for (const folder of foldersOf(files.map(({ path }) => path))) {
    const target = below(intoFolder, folder)
    await mkdir(target)
    // Set, not asked for: the umask of the process must not decide what a container can read and run.
    await chmod(target, folderMode)
  }
  for (const { path, bytes, executable } of files) {
    const file = await open(below(intoFolder, path), 'wx', plainMode)
    try {
      await file.writeFile(bytes)
      await file.chmod(executable ? executableMode : plainMode)
    } finally {
      await file.close()
    }
  }
}

/** Every folder that the paths go through, outer ones first. */
function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at))
  }
  return folders
}

function below(folder: string, path: string): string {
  const target = join(folder, path)
  assert(relative(folder, target) === path.split('/').join(sep), 'a file of a skill lies below its folder')
  return target
}

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpackPackages } from './apt-packages.ts'

/**
 * Unpacks packages of the distribution into a folder, without installing them. Works in a folder beside the final
 * one and renames it when complete; two starts at once are both served.
 */
export async function unpackInto(final: string, packages: string[]): Promise<void> {
  mkdirSync(join(final, '..'), { recursive: true })
  const draft = mkdtempSync(`${final}-draft-`)
  try {
    const work = join(draft, 'work')
    const content = join(draft, 'content')
    mkdirSync(work)
    mkdirSync(content)
    const versions = await unpackPackages(packages, content, work)
    writeFileSync(join(content, 'packages.txt'), `${versions.join('\n')}\n`)
    rmSync(final, { recursive: true, force: true })
    renameSync(content, final)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// Libraries are in usr/lib/<triplet>; a program needs only those its own packages brought.
export function libraryFolders(unpacked: string): string[] {
  const roots = [join(unpacked, 'usr', 'lib'), join(unpacked, 'lib')].filter(existsSync)
  return roots.flatMap((root) => [root, ...readdirSync(root).map((name) => join(root, name))])
}

export function libraryEnv(libraries: string[]): NodeJS.ProcessEnv {
  return libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(':') }
}

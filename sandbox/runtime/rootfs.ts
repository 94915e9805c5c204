import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { mmdebstrap } from './mmdebstrap.ts'
import type { Workshop } from './mmdebstrap.ts'
import { packNode } from './node-files.ts'
import { readPackages, recipeFile } from './recipe.ts'
import type { ImageKind } from './recipe.ts'

const LEFT_OUT = ['/usr/share/man/*', '/usr/share/locale/*', '/usr/share/doc/*', '/usr/share/info/*']

/** Makes the root file system of an image from Debian's packages; the file appears whole or not at all. */
export async function buildRootfs(kind: ImageKind, file: string, enginesDir: string): Promise<void> {
  const folder = join(file, '..')
  const draftName = `draft-${kind}-`
  mkdirSync(folder, { recursive: true })
  // The caller holds the lock of this kind, so a draft that is there belongs to nobody.
  const abandoned = readdirSync(folder).filter((name) => name.startsWith(draftName))
  for (const name of abandoned) rmSync(join(folder, name), { recursive: true, force: true })
  const work = mkdtempSync(join(folder, draftName))
  try {
    const hooks = kind === 'full' ? [`tar-in ${await packNode(work)} /`] : []
    const draft = join(work, 'rootfs.tar')
    const finish = `${recipeFile('finish-rootfs.sh')} "$1"`
    await debootstrap(readPackages(kind), [...hooks, finish], draft, { work, enginesDir })
    renameSync(draft, file)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** A small Debian with the given packages. Hooks run at the end and see the new root as `$1`. */
export async function debootstrap(packages: string[], hooks: string[], out: string, workshop: Workshop): Promise<void> {
  const options = [
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    ...LEFT_OUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    // Nobody needs half a file system after a power cut.
    '--dpkgopt=force-unsafe-io',
    // Java's packages link their manual pages, and fail without the folder.
    '--essential-hook=mkdir -p "$1/usr/share/man/man1"',
    ...hooks.map((hook) => `--customize-hook=${hook}`),
  ]
  await mmdebstrap(options, out, workshop)
}

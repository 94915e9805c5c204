import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canUnpackPackages, unpackPackages } from './apt-packages.ts'
import { enginesFolder } from './engines-folder.ts'
import { findProgram, isProgram } from './find-program.ts'

const MAJOR_MIN = 7
const VERSION_BOUND_MS = 10_000

export interface ValkeyProgram {
  path: string
  version: string
  /** Folders that hold libraries unpacked with it; empty for an installed one. */
  libraries: string[]
  source: 'PATH' | 'unpacked'
}

/** Debian keeps the server's file in the tools package and links to it, so both are always unpacked together. */
const CHOICES = [
  { program: 'valkey-server', packages: ['valkey-server', 'valkey-tools'] },
  { program: 'redis-server', packages: ['redis-server', 'redis-tools'] },
]

/** A Valkey (or Redis 7 and later) that is on PATH or was unpacked earlier; null when there is none. */
export function findValkey(folder: string = enginesFolder()): ValkeyProgram | null {
  for (const { program } of CHOICES) {
    const path = findProgram(program)
    const found = path === null ? null : check(path, [], 'PATH')
    if (found !== null) return found
  }
  return findUnpackedValkey(folder)
}

export function findUnpackedValkey(folder: string): ValkeyProgram | null {
  for (const { program } of CHOICES) {
    const unpacked = unpackedFolder(folder, program)
    const path = join(unpacked, 'usr', 'bin', program)
    const found = isProgram(path) ? check(path, libraryFolders(unpacked), 'unpacked') : null
    if (found !== null) return found
  }
  return null
}

/** Unpacks the distribution's package into the engines' folder, without installing it. */
export async function unpackValkey(folder: string, onProgress?: (line: string) => void): Promise<ValkeyProgram> {
  if (!canUnpackPackages()) throw new Error(explainMissingValkey())
  const failures: unknown[] = []
  for (const { program, packages } of CHOICES) {
    try {
      onProgress?.(`valkey: unpacking ${program} from the distribution's packages into ${folder}`)
      await unpackInto(unpackedFolder(folder, program), packages)
    } catch (error) {
      failures.push(error)
      continue
    }
    const found = findUnpackedValkey(folder)
    if (found !== null) return found
    failures.push(new Error(`${program} was unpacked into ${folder} but does not run`))
  }
  throw new Error(explainMissingValkey(), { cause: new AggregateError(failures) })
}

export function explainMissingValkey(): string {
  return [
    'Valkey was not found on PATH and could not be unpacked from the distribution. Do one of these:',
    '  - Debian, Ubuntu: apt-get install valkey-server (or redis-server, version 7 or later);',
    '  - Fedora: dnf install valkey;',
    '  - macOS: brew install valkey;',
    '  - give the address of a running one instead.',
  ].join('\n')
}

/** Works in a folder beside the final one and renames it when complete; two starts at once are both served. */
async function unpackInto(final: string, packages: string[]): Promise<void> {
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

function unpackedFolder(folder: string, program: string): string {
  return join(folder, `${program}-${process.arch}`)
}

// Libraries are in usr/lib/<triplet>; a program needs only those its own packages brought.
function libraryFolders(unpacked: string): string[] {
  const roots = [join(unpacked, 'usr', 'lib'), join(unpacked, 'lib')].filter(existsSync)
  return roots.flatMap((root) => [root, ...readdirSync(root).map((name) => join(root, name))])
}

function check(path: string, libraries: string[], source: ValkeyProgram['source']): ValkeyProgram | null {
  try {
    const env = { ...process.env, ...libraryEnv(libraries) }
    const said = execFileSync(path, ['--version'], { env, encoding: 'utf8', timeout: VERSION_BOUND_MS })
    const version = /\bv=(\d+\.\d+\.\d+)/.exec(said)?.[1]
    if (version === undefined || Number.parseInt(version, 10) < MAJOR_MIN) return null
    return { path, version, libraries, source }
  } catch {
    return null
  }
}

export function libraryEnv(libraries: string[]): NodeJS.ProcessEnv {
  return libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(':') }
}

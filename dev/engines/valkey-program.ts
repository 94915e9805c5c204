import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { canUnpackPackages } from './apt-packages.ts'
import { enginesFolder } from './engines-folder.ts'
import { findProgram, isProgram } from './find-program.ts'
import { libraryEnv, libraryFolders, unpackInto } from './unpacked-folder.ts'

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

function unpackedFolder(folder: string, program: string): string {
  return join(folder, `${program}-${process.arch}`)
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

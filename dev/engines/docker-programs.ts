import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { canUnpackPackages, readCodename } from './apt-packages.ts'
import { enginesFolder } from './engines-folder.ts'
import { findProgram, isProgram } from './find-program.ts'
import { libraryEnv, libraryFolders, unpackInto } from './unpacked-folder.ts'

const VERSION_BOUND_MS = 10_000
/** Before this release gVisor had no systrap, the platform that needs neither KVM nor ptrace. */
const RUNSC_RELEASE_MIN = 20_230_800
const DOCKER_PACKAGES = ['docker.io', 'containerd', 'runc', 'tini']

export interface DockerPrograms {
  dockerd: string
  version: string
  containerd: string
  runc: string
  /** The first process of a container that asks for one; null when dockerd knows where its own is. */
  init: string | null
  runsc: string
  runscRelease: string
  /** Folders where dockerd must find containerd and its shims. */
  folders: string[]
  /** Folders that hold libraries unpacked with it; empty for an installed one. */
  libraries: string[]
  source: 'PATH' | 'unpacked'
}

type Engine = Omit<DockerPrograms, 'runsc' | 'runscRelease'>
type Gvisor = Pick<DockerPrograms, 'runsc' | 'runscRelease'>

/** Docker's engine with runc and gVisor, each on PATH or unpacked earlier; null when one of them is missing. */
export function findDocker(folder: string = enginesFolder()): DockerPrograms | null {
  const engine = findEngine(folder)
  const gvisor = findGvisor(folder)
  return engine === null || gvisor === null ? null : { ...engine, ...gvisor }
}

/** Unpacks from the distribution's packages what the machine lacks, without installing it. */
export async function unpackDocker(folder: string, onProgress?: (line: string) => void): Promise<DockerPrograms> {
  if (!canUnpackPackages()) throw new Error(explainMissingDocker())
  try {
    if (findEngine(folder) === null) {
      onProgress?.(`docker: unpacking the engine from the distribution's packages into ${folder}`)
      await unpackInto(engineFolder(folder), DOCKER_PACKAGES)
    }
    if (findGvisor(folder) === null) {
      onProgress?.(`docker: unpacking gVisor from the distribution's packages into ${folder}`)
      await unpackInto(gvisorFolder(folder), [`runsc/${readCodename()}-backports`])
    }
  } catch (error) {
    throw new Error(explainMissingDocker(), { cause: error })
  }
  const found = findDocker(folder)
  if (found === null) throw new Error(`${explainMissingDocker()}\nWhat was unpacked into ${folder} does not run.`)
  return found
}

export function explainMissingDocker(): string {
  return [
    'dockerd, containerd, runc and runsc (gVisor, August 2023 or later) were not all found on PATH, and could not be',
    'unpacked from the distribution. Do one of these:',
    '  - Debian, Ubuntu: apt-get install docker.io, and runsc from the backports or from gvisor.dev;',
    '  - Fedora: dnf install moby-engine, and runsc from gvisor.dev;',
    '  - give the socket of a running engine instead.',
  ].join('\n')
}

function findEngine(folder: string): Engine | null {
  const installed = checkEngine(findProgram('dockerd'), findProgram('containerd'), findProgram('runc'))
  if (installed !== null) {
    return { ...installed, init: findProgram('docker-init') ?? findProgram('tini'), libraries: [], source: 'PATH' }
  }
  const unpacked = engineFolder(folder)
  const server = join(unpacked, 'usr', 'sbin')
  const programs = join(unpacked, 'usr', 'bin')
  const libraries = libraryFolders(unpacked)
  const found = checkEngine(join(server, 'dockerd'), join(programs, 'containerd'), join(server, 'runc'), libraries)
  return found === null ? null : { ...found, init: join(programs, 'tini-static'), libraries, source: 'unpacked' }
}

function checkEngine(dockerd: string | null, containerd: string | null, runc: string | null, libraries: string[] = []) {
  if (dockerd === null || containerd === null || runc === null) return null
  const version = askVersion(dockerd, /\bversion (\d+\.\d+\.\d+)/, libraries)
  if (version === null || !isProgram(containerd) || !isProgram(runc)) return null
  return { dockerd, version, containerd, runc, folders: [...new Set([dirname(containerd), dirname(runc)])] }
}

function findGvisor(folder: string): Gvisor | null {
  for (const runsc of [findProgram('runsc'), join(gvisorFolder(folder), 'usr', 'bin', 'runsc')]) {
    const runscRelease = runsc === null ? null : askVersion(runsc, /\b(20\d{6})\.\d/, [])
    if (runsc === null || runscRelease === null || Number(runscRelease) < RUNSC_RELEASE_MIN) continue
    return { runsc, runscRelease }
  }
  return null
}

function askVersion(program: string, pattern: RegExp, libraries: string[]): string | null {
  try {
    const env = { ...process.env, ...libraryEnv(libraries) }
    const said = execFileSync(program, ['--version'], {
      env,
      encoding: 'utf8',
      timeout: VERSION_BOUND_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return pattern.exec(said)?.[1] ?? null
  } catch {
    return null
  }
}

function engineFolder(folder: string): string {
  return join(folder, `docker-${process.arch}`)
}

function gvisorFolder(folder: string): string {
  return join(folder, `runsc-${process.arch}`)
}

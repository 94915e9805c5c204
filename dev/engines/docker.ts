import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Docker from 'dockerode'
import { findDocker, unpackDocker } from './docker-programs.ts'
import type { DockerPrograms } from './docker-programs.ts'
import { endDockerProcesses, unmountRemains } from './docker-remains.ts'
import type { DockerFolders } from './docker-remains.ts'
import { dockerSocket, writeSettings } from './docker-settings.ts'
import { enginesFolder } from './engines-folder.ts'
import type { EngineHandle } from './handle.ts'
import { SupervisedProcess } from './process.ts'
import type { ProcessOptions } from './process.ts'
import { libraryEnv } from './unpacked-folder.ts'

const READY_BOUND_MS = 30_000
const STOP_BOUND_MS = 20_000
const REQUEST_BOUND_MS = 30_000
const PING_BOUND_MS = 2_000
const START_ATTEMPTS_MAX = 4
const START_PAUSE_MS = 500
/** Where the folder of the sockets is written down; a later start on the same data must find the same one. */
const RUN_FOLDER_FILE = 'run-folder'

export interface DockerOptions {
  /** Holds images, containers, settings and logs. */
  dataDir: string
  logFile?: string
  /** Where an unpacked engine is looked for and put. */
  enginesDir?: string
  onProgress?: ProcessOptions['onProgress']
  onUnexpectedExit?: ProcessOptions['onUnexpectedExit']
}

/** `kill9` and `restart` concern dockerd alone: containers live on. `stop` ends containers too. */
export interface DockerEngine extends EngineHandle {
  readonly socket: string
  readonly version: string
  readonly folders: DockerFolders
  /** Leaves it running when this process ends; from then on `endDocker` stops it. */
  release: () => void
}

/** Starts a Docker engine of our own with runc and gVisor, unpacking it first where the machine has none. */
export async function startDocker(options: DockerOptions): Promise<DockerEngine> {
  if (process.getuid?.() !== 0) throw new Error('The Docker engine can only be started by root.')
  const dataDir = resolve(options.dataDir)
  const enginesDir = options.enginesDir ?? enginesFolder()
  const programs = findDocker(enginesDir) ?? (await unpackDocker(enginesDir, options.onProgress))
  mkdirSync(dataDir, { recursive: true })
  const folders = dockerFolders(dataDir)
  const [containerd, dockerd] = superviseBoth(programs, folders, { ...options, dataDir })
  const socket = dockerSocket(folders.runDir)
  const start = async () => {
    writeSettings(folders, programs)
    await startBoth(containerd, dockerd, socket)
  }
  await start()
  return {
    socket,
    version: programs.version,
    folders,
    get pid() {
      return dockerd.pid
    },
    stop: async () => {
      if (dockerd.running) await removeContainers(socket)
      await dockerd.stop()
      await containerd.stop()
      await endDocker(dataDir)
    },
    kill9: async () => await dockerd.kill9(),
    restart: async () => {
      await dockerd.stop()
      await start()
    },
    release: () => {
      dockerd.release()
      containerd.release()
    },
  }
}

/** Ends whatever runs on this data, whoever started it, and leaves no process, mount or socket behind. */
export async function endDocker(dataDir: string): Promise<void> {
  const folders = dockerFolders(resolve(dataDir))
  await endDockerProcesses(folders)
  unmountRemains(folders)
  rmSync(folders.runDir, { recursive: true, force: true })
}

export async function dockerAnswers(socket: string): Promise<boolean> {
  try {
    await new Docker({ socketPath: socket, timeout: PING_BOUND_MS }).ping()
    return true
  } catch {
    return false
  }
}

/** Removes every container; one that cannot be removed is left to the killing that follows. */
export async function removeContainers(socket: string): Promise<void> {
  const docker = new Docker({ socketPath: socket, timeout: REQUEST_BOUND_MS })
  const containers = await docker.listContainers({ all: true }).catch(() => [])
  await Promise.allSettled(
    containers.map(async ({ Id }) => await docker.getContainer(Id).remove({ force: true, v: true })),
  )
}

export function dockerFolders(dataDir: string): DockerFolders {
  return { dataRoot: join(dataDir, 'data'), runDir: keepRunFolder(dataDir) }
}

// A socket's path may have 107 bytes, too few for many a checkout: sockets are in a folder with a short name.
function keepRunFolder(dataDir: string): string {
  const file = join(dataDir, RUN_FOLDER_FILE)
  try {
    const kept = readFileSync(file, 'utf8').trim()
    const found = lstatSync(kept)
    if (found.isDirectory() && found.uid === process.getuid?.()) return kept
  } catch {
    // Never made, or gone with the last boot.
  }
  const made = mkdtempSync(join(tmpdir(), 'switchyard-docker-'))
  writeFileSync(file, `${made}\n`)
  return made
}

function superviseBoth(programs: DockerPrograms, folders: DockerFolders, options: DockerOptions) {
  const { dataDir, onProgress, onUnexpectedExit } = options
  const commands = writeSettings(folders, programs)
  const path = [...programs.folders, process.env['PATH'] ?? ''].join(delimiter)
  const supervise = (name: string, program: string, args: string[]) =>
    new SupervisedProcess(program, args, {
      name,
      logFile: options.logFile ?? join(dataDir, `${name}.log`),
      pidFile: join(dataDir, `${name}.pid`),
      cwd: folders.runDir,
      env: { ...process.env, ...libraryEnv(programs.libraries), PATH: path },
      stopBoundMs: STOP_BOUND_MS,
      ...(onProgress && { onProgress }),
      ...(onUnexpectedExit && { onUnexpectedExit }),
    })
  return [
    supervise('containerd', programs.containerd, commands.containerd),
    supervise('dockerd', programs.dockerd, commands.dockerd),
  ] as const
}

// After a crash the first attempt may meet a containerd that is still loading, or a stale socket.
async function startBoth(containerd: SupervisedProcess, dockerd: SupervisedProcess, socket: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (!containerd.running) await containerd.start()
      await dockerd.start()
      await dockerd.waitReady(async () => await dockerAnswers(socket), READY_BOUND_MS)
      return
    } catch (error) {
      await dockerd.stop()
      if (attempt === START_ATTEMPTS_MAX) {
        await containerd.stop()
        throw error
      }
      await delay(START_PAUSE_MS)
    }
  }
}

import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { forgetProcess, recordedProcessLives, recordProcess } from '../processes.ts'
import { dockerAnswers, dockerFolders, endDocker, removeContainers, startDocker } from './docker.ts'
import type { DockerOptions } from './docker.ts'
import { dockerSocket } from './docker-settings.ts'
import { enginesFolder } from './engines-folder.ts'
import { withLock } from './lock-file.ts'

/** Longer than unpacking the engine and starting it take. */
const LOCK_BOUND_MS = 6 * 60_000

export interface SharedDockerOptions {
  /** Holds the engine's data and who uses it; one engine for each. */
  folder?: string
  onProgress?: DockerOptions['onProgress']
}

export interface SharedDocker {
  readonly socket: string
  /** Ends the use; whoever uses it last stops the engine. */
  stop: () => Promise<void>
}

/**
 * One Docker engine for every test on this machine, whichever process asks first. Its images stay from run to run;
 * its containers go with the last user.
 */
export async function sharedDocker(options: SharedDockerOptions = {}): Promise<SharedDocker> {
  const use = openUse(options)
  const socket = await withLock(use.lock, LOCK_BOUND_MS, async () => {
    const found = await useOrStart(use.dataDir, livingUsers(use.users) > 0, options.onProgress)
    recordProcess(use.user, process.pid)
    return found
  })
  return { socket, stop: use.end }
}

/**
 * Keeps the engine from ending between its users, for a run of many short ones. It does not start it: the first one
 * that needs it does.
 */
export async function holdSharedDocker(options: SharedDockerOptions = {}): Promise<{ stop: () => Promise<void> }> {
  const use = openUse(options)
  await withLock(use.lock, LOCK_BOUND_MS, async () => {
    const running = dockerSocket(dockerFolders(use.dataDir).runDir)
    if (livingUsers(use.users) === 0 && (await dockerAnswers(running))) await removeContainers(running)
    recordProcess(use.user, process.pid)
  })
  return { stop: use.end }
}

function openUse(options: SharedDockerOptions) {
  const folder = options.folder ?? join(enginesFolder(), 'shared-docker')
  const dataDir = join(folder, 'engine')
  const users = join(folder, 'users')
  const lock = join(folder, 'lock')
  mkdirSync(dataDir, { recursive: true })
  mkdirSync(users, { recursive: true })
  const user = join(users, randomUUID())
  let ended = false
  const end = async () => {
    if (ended) return
    ended = true
    await withLock(lock, LOCK_BOUND_MS, async () => {
      forgetProcess(user)
      if (livingUsers(users) > 0) return
      await removeContainers(dockerSocket(dockerFolders(dataDir).runDir))
      await endDocker(dataDir)
    })
  }
  return { dataDir, users, lock, user, end }
}

/** Containers that dead users left are removed before anyone new starts to count on an empty engine. */
async function useOrStart(dataDir: string, inUse: boolean, onProgress: DockerOptions['onProgress']): Promise<string> {
  const running = dockerSocket(dockerFolders(dataDir).runDir)
  if (await dockerAnswers(running)) {
    if (!inUse) await removeContainers(running)
    return running
  }
  await endDocker(dataDir)
  const engine = await startDocker({ dataDir, ...(onProgress && { onProgress }) })
  engine.release()
  if (!inUse) await removeContainers(engine.socket)
  return engine.socket
}

function livingUsers(users: string): number {
  const living = readdirSync(users).filter((name) => {
    const file = join(users, name)
    if (recordedProcessLives(file) === true) return true
    forgetProcess(file)
    return false
  })
  return living.length
}

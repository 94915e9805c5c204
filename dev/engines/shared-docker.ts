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
  const folder = options.folder ?? join(enginesFolder(), 'shared-docker')
  const dataDir = join(folder, 'engine')
  const users = join(folder, 'users')
  const lock = join(folder, 'lock')
  mkdirSync(dataDir, { recursive: true })
  mkdirSync(users, { recursive: true })
  const user = join(users, randomUUID())
  const socket = await withLock(lock, LOCK_BOUND_MS, async () => {
    const inUse = livingUsers(users) > 0
    const found = await useOrStart(dataDir, inUse, options.onProgress)
    recordProcess(user, process.pid)
    return found
  })
  let stopped = false
  return {
    socket,
    stop: async () => {
      if (stopped) return
      stopped = true
      await withLock(lock, LOCK_BOUND_MS, async () => {
        forgetProcess(user)
        if (livingUsers(users) > 0) return
        await removeContainers(socket)
        await endDocker(dataDir)
      })
    },
  }
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

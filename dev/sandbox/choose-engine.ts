import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { dockerAnswers, dockerFolders, startDocker } from '../engines/docker.ts'
import { findDocker } from '../engines/docker-programs.ts'
import { dockerSocket } from '../engines/docker-settings.ts'

export interface EngineWish {
  readonly dataDir: string
  /** `SWITCHYARD_SANDBOX_DOCKER_SOCKET`, when someone set it. */
  readonly givenSocket?: string | undefined
  readonly onProgress?: (line: string) => void
}

/** A Docker engine for dev: where it answers, or will. */
export interface ChosenEngine {
  readonly socket: string
  /** What is told about it. */
  readonly name: string
  /** Rejects when it does not come up. */
  readonly up: Promise<unknown>
  /** It takes seconds: the rest of the start need not wait. False while packages have to be unpacked first. */
  readonly soon: boolean
  stop(): Promise<void>
}

const systemSocket = '/var/run/docker.sock'

/** The engine that was named, else the system's, else one of our own. A text says why there is none. */
export async function chooseEngine({ dataDir, givenSocket, onProgress }: EngineWish): Promise<ChosenEngine | string> {
  const socket = givenSocket ?? systemSocket
  if (await dockerAnswers(socket)) {
    return { socket, name: socket, up: Promise.resolve(), soon: true, stop: async () => {} }
  }
  if (givenSocket !== undefined) return `no Docker engine answers at ${givenSocket}; start it, it is tried again`
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return `no Docker engine answers at ${systemSocket}, and only root on Linux can start one; start Docker, or set SWITCHYARD_SANDBOX_DOCKER_SOCKET`
  }
  return startOwn(join(dataDir, 'docker'), onProgress)
}

function startOwn(dataDir: string, onProgress: EngineWish['onProgress']): ChosenEngine {
  mkdirSync(dataDir, { recursive: true })
  const soon = findDocker() !== null
  const starting = startDocker({ dataDir, ...(onProgress && { onProgress }) })
  // Whoever waits for `up` hears of a failure; without anybody waiting it must not end the process.
  starting.catch(() => undefined)
  return {
    socket: dockerSocket(dockerFolders(dataDir).runDir),
    name: 'our own engine',
    up: starting,
    soon,
    stop: async () => {
      const engine = await starting.catch(() => null)
      await engine?.stop()
    },
  }
}

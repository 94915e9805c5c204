import Docker from 'dockerode'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** The engine cannot be reached: it is not running, or is being restarted. Nothing was begun. */
export class EngineAway extends Error {
  override readonly name = 'EngineAway'
}

/** The engine has no such container, or it is not running any more. */
export class NotRunning extends Error {
  override readonly name = 'NotRunning'
}

export type CreateOptions = Docker.ContainerCreateOptions

export interface EngineContainer {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
  readonly running: boolean
}

export interface EngineInfo {
  readonly runtimes: readonly string[]
  readonly memoryBytes: number
  readonly version: string
}

export interface ExecOptions {
  readonly command: readonly string[]
  readonly user: string
  readonly env: readonly string[]
  readonly folder: string
}

export interface EngineEvent {
  readonly kind: 'die' | 'oom'
  readonly id: string
}

/** The few calls of the Docker Engine API that we make, with the two failures that matter told apart. */
export interface EngineApi {
  info(): Promise<EngineInfo>
  hasImage(tag: string): Promise<boolean>
  create(options: CreateOptions): Promise<string>
  start(id: string): Promise<void>
  isRunning(id: string): Promise<boolean>
  /** Whether there was one. Its volumes go with it. */
  remove(id: string): Promise<boolean>
  list(label: string): Promise<EngineContainer[]>
  /** Prepares a command; nothing runs yet, so this may be tried again. */
  prepareExec(id: string, options: ExecOptions): Promise<string>
  /** Begins a prepared command and does not wait for it. */
  startExec(execId: string): Promise<void>
  /** Begins a command and gives what it prints. The stream ends with the command, or with the engine. */
  attachExec(id: string, options: ExecOptions): Promise<Readable>
  /** Runs a command to its end, for our own small chores. Returns its exit code. */
  runExec(id: string, options: ExecOptions): Promise<number>
  /** Until the signal ends it or the engine goes away. */
  watch(label: string, onEvent: (event: EngineEvent) => void, signal: AbortSignal): Promise<void>
}

const timeoutMs = 120_000

export function createEngineApi(socketPath: string): EngineApi {
  const docker = new Docker({ socketPath, timeout: timeoutMs })
  return {
    async info() {
      const info = (await told(() => docker.info())) as { Runtimes?: object; MemTotal?: number; ServerVersion?: string }
      return {
        runtimes: Object.keys(info.Runtimes ?? {}),
        memoryBytes: info.MemTotal ?? 0,
        version: info.ServerVersion ?? 'unknown',
      }
    },
    async hasImage(tag) {
      try {
        await told(() => docker.getImage(tag).inspect())
        return true
      } catch (error) {
        if (error instanceof NotRunning) return false
        throw error
      }
    },
    create: async (options) => (await told(() => docker.createContainer(options))).id,
    start: async (id) => void (await told(() => docker.getContainer(id).start())),
    async isRunning(id) {
      try {
        return (await told(() => docker.getContainer(id).inspect())).State.Running
      } catch (error) {
        if (error instanceof NotRunning) return false
        throw error
      }
    },
    async remove(id) {
      try {
        await told(() => docker.getContainer(id).remove({ force: true, v: true }))
        return true
      } catch (error) {
        if (error instanceof NotRunning) return false
        throw error
      }
    },
    async list(label) {
      const found = await told(() => docker.listContainers({ all: true, filters: { label: [label] } }))
      return found.map(({ Id, Labels, State }) => ({ id: Id, labels: Labels, running: State === 'running' }))
    },
    prepareExec: async (id, options) => (await told(() => docker.getContainer(id).exec(execOf(options, false)))).id,
    async startExec(execId) {
      const stream = (await told(() => docker.getExec(execId).start({ Detach: true, Tty: false }))) as Readable
      stream.on('error', () => undefined)
      stream.destroy()
    },
    async attachExec(id, options) {
      const exec = await told(() => docker.getContainer(id).exec(execOf(options, true)))
      return await told(() => exec.start({}))
    },
    async runExec(id, options) {
      const exec = await told(() => docker.getContainer(id).exec(execOf(options, true)))
      const stream = await told(() => exec.start({}))
      stream.resume()
      await new Promise<void>((resolve) => {
        stream.once('end', resolve)
        stream.once('close', resolve)
        stream.once('error', () => resolve())
      })
      return (await told(() => exec.inspect())).ExitCode ?? -1
    },
    async watch(label, onEvent, signal) {
      const filters = { type: ['container' as const], event: ['die', 'oom'], label: [label] }
      const stream = (await told(() => docker.getEvents({ filters }))) as unknown as Readable
      const lines = createInterface({ input: stream })
      // Lines know the end of their stream, not its destruction.
      const stop = () => {
        stream.destroy()
        lines.close()
      }
      stream.once('close', () => lines.close())
      signal.addEventListener('abort', stop, { once: true })
      try {
        signal.throwIfAborted()
        for await (const line of lines) {
          const { Action, Actor } = JSON.parse(line) as { Action: 'die' | 'oom'; Actor: { ID: string } }
          onEvent({ kind: Action, id: Actor.ID })
        }
      } catch (error) {
        if (!signal.aborted) throw error
      } finally {
        signal.removeEventListener('abort', stop)
        stop()
      }
    },
  }
}

const execOf = ({ command, user, env, folder }: ExecOptions, attached: boolean) => ({
  Cmd: [...command],
  User: user,
  Env: [...env],
  WorkingDir: folder,
  AttachStdin: false,
  AttachStdout: attached,
  AttachStderr: attached,
  Tty: false,
})

/** Errors of the socket mean that the engine is away; 404 and 409 mean that the container is not there or not running. */
async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const { statusCode, code, message } = error as { statusCode?: number; code?: string; message?: string }
    if (statusCode === 404 || statusCode === 409) throw new NotRunning(message ?? 'not running', { cause: error })
    if (statusCode === undefined && code !== undefined) {
      throw new EngineAway(`the Docker engine does not answer (${code})`, { cause: error })
    }
    throw error
  }
}

import type { MemoryLimit } from '@switchyard/contracts/containers.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { Readable } from 'node:stream'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'
import { newId } from '#platform/std/ids.ts'
import { hostCommands, type WriteInput } from './host/wire.ts'
import { clearHost } from './steps/clear-host.ts'
import type { PlaceUses } from './steps/place-shell.ts'
import { discard, provision } from './steps/provision.ts'
import { reachHost } from './steps/reach-host.ts'
import { runShell, type ShellEntries } from './steps/run-shell.ts'
import { endPrivateContainer, insertContainer } from './store/containers.ts'

export interface JobCommand {
  /** For a shell, in /mnt/data. */
  readonly text: string
  readonly timeoutMs: number
  /** What it has printed on stdout since the last time. */
  onStdout?(text: string): void
}

export type JobResult = ShellEntries['entries'][number] & {
  /** False when nobody knows how far it came: its machine or its host went away under it. */
  readonly complete: boolean
}

/** Private containers: no network, seen by no project, for code that the product itself has to run. */
export interface ContainerJobs {
  /** Nothing is started until it is used. Throws a Fault when there is no host. */
  open(asked: { projectId: ProjectId; name: string; memoryLimit?: MemoryLimit }): Promise<string>
  /** Puts a file under /mnt/data, in the place of one that has its name. */
  put(containerId: string, filename: string, content: Uint8Array, signal: AbortSignal): Promise<void>
  /** Runs one command, one at a time in a container. The signal ends it. Throws ContainerLost when the container is over. */
  run(containerId: string, command: JobCommand, signal: AbortSignal): Promise<JobResult>
  /** Deletes it with all that it holds, also while something runs in it. Idempotent. */
  close(containerId: string): Promise<void>
}

/** Whoever opened it may have died: it goes by itself. */
const expiresMinutes = 10
/** Activity is noted when a command begins and when it ends: one that runs for longer would lose its container. */
const timeoutMsMax = (expiresMinutes - 2) * 60_000
const putBytesMax = 64 * 1024 * 1024

export function createJobs(use: PlaceUses): ContainerJobs {
  return {
    open: ({ projectId, name, memoryLimit = '1g' }) => openPrivate(use, projectId, name, memoryLimit),
    async put(containerId, filename, content, signal) {
      assert(content.byteLength <= putBytesMax, 'a file of a job is small')
      await reachHost(
        use,
        containerId,
        (owner, order) => {
          const input: WriteInput = { order, filename, fileId: null }
          return use.mesh.ask(owner, hostCommands.writeFile, { input, body: Readable.from([content]), signal })
        },
        { signal },
      )
    },
    async run(containerId, { text, timeoutMs, onStdout }, signal) {
      assert(timeoutMs <= timeoutMsMax, 'a command of a job ends before its container expires')
      const callId = newId('job_')
      const { entries, complete } = await runShell(
        use,
        { containerId, responseId: callId, callId, commands: [text], timeoutMs },
        {
          signal,
          endOnAbort: true,
          onOutput: (_index, { stdout }) => {
            if (stdout !== undefined) onStdout?.(stdout)
          },
        },
      )
      signal.throwIfAborted()
      const [entry] = entries
      assert(entry !== undefined, 'a command that was not cancelled has an entry')
      return { ...entry, complete }
    },
    async close(containerId) {
      const ended = await endPrivateContainer(use.db, containerId)
      if (ended?.host_id != null) await clearHost(use, ended.host_id)
    },
  }
}

async function openPrivate(use: PlaceUses, projectId: ProjectId, name: string, memoryLimit: MemoryLimit) {
  const project = await use.orgs.findProject(projectId)
  if (project === null) throw new Fault('not_found', 'No such project.')
  const made = await provision(use, {
    projectId,
    orgId: project.orgId,
    name,
    status: 'active',
    private: true,
    responseId: null,
    memoryLimit,
    expiresMinutes,
    policy: undefined,
    skills: [],
    fileIds: [],
    messageFiles: [],
    param: '',
  })
  try {
    await use.db.tx((tx) => insertContainer(tx, made))
  } catch (error) {
    await discard(use, made)
    throw error
  }
  return made.id
}

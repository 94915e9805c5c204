import type { MeshOwner } from '#platform/mesh/command.ts'
import { containerFileId } from './domain/file-id.ts'
import { listFilesOf } from './steps/list-files-of.ts'
import { placeShell, type Placed, type PlaceAsked, type PlaceUses } from './steps/place-shell.ts'
import { runShell, type ShellCall, type ShellEntries, type ShellListener } from './steps/run-shell.ts'
import { hostCommands, type CancelInput } from './host/wire.ts'
import { commandPatienceMs, reachHost } from './steps/reach-host.ts'
import { findAnyContainer, touchContainer } from './store/containers.ts'
import { dropReservedContainers } from './store/ended-containers.ts'

/** The hosted shell, as a response uses it. */
export interface ContainerShell {
  /** Reserves where the commands of a response will run. Throws a Fault when the environment cannot be had. */
  place(asked: PlaceAsked): Promise<Placed>
  /** Runs the commands of a call. Asked again for the same call, it gives the same answer and runs nothing twice. */
  run(call: ShellCall, listener: ShellListener): Promise<ShellEntries>
  /** Ends what a response has running. */
  cancel(containerId: string, responseId: string): Promise<void>
  /** Files that a message may name, by their full path. */
  files(containerId: string): Promise<{ id: string; path: string }[]>
  /** Counts as activity, for a response of which there is no record. */
  keep(containerId: string): Promise<void>
  /** The response is over: a container that it never needed goes. */
  release(containerId: string): Promise<void>
}

export function createShell(use: PlaceUses): ContainerShell {
  return {
    place: (asked) => placeShell(use, asked),
    run: (call, listener) => runShell(use, call, listener),
    async cancel(containerId, responseId) {
      const input: CancelInput = { containerId, responseId }
      // One that has no host has no command, and is not to get one for this.
      if ((await findAnyContainer(use.db, containerId))?.host_id == null) return
      const ask = (owner: MeshOwner) => use.mesh.ask(owner, hostCommands.cancel, { input })
      await reachHost(use, containerId, ask, { patienceMs: commandPatienceMs })
    },
    async files(containerId) {
      const files = await listFilesOf(use, containerId)
      return files.map(({ path }) => ({ id: containerFileId(containerId, path), path: `/mnt/data/${path}` }))
    },
    keep: async (containerId) => void (await touchContainer(use.db, containerId)),
    release: async (containerId) => void (await dropReservedContainers(use.db, [containerId])),
  }
}

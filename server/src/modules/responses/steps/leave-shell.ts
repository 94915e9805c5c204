import type { ContainerShell } from '#modules/containers/index.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { containerOf, type ShellPlace } from '../domain/call-item.ts'

export interface LeaveShellUses {
  readonly shell: Pick<ContainerShell, 'release' | 'cancel'>
  readonly log: Log
}

/**
 * The response is over: a container that it never needed goes now rather than with the sweep, and commands of one that was
 * stopped end. Nobody waits for this.
 */
export function leaveShell(use: LeaveShellUses, id: string, place: ShellPlace, how: 'ended' | 'stopped'): void {
  const containerId = containerOf(place)
  if (containerId === null) return
  const leave = async () => {
    if (how === 'stopped') await use.shell.cancel(containerId, id)
    await use.shell.release(containerId)
  }
  leave().catch((err: unknown) => use.log.debug({ err, containerId }, 'left to the sweep'))
}

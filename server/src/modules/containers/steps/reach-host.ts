import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { MeshUnreachable, type MeshOwner } from '#platform/mesh/command.ts'
import type { Mesh } from '#platform/mesh/mesh.ts'
import { backoff } from '#platform/std/backoff.ts'
import { sleep } from '#platform/std/clock.ts'
import { ContainerLost } from '../domain/lost.ts'
import type { BoxOrder } from '../domain/order.ts'
import { findAnyContainer, orderOf, type ContainerRow, type ReachableRow } from '../store/containers.ts'
import { placeContainer } from '../store/hosts.ts'
import type { ContainersTables } from '../store/tables.ts'

export interface ReachUses {
  readonly db: Db<ContainersTables>
  readonly mesh: Mesh
}

export interface ReachOptions {
  readonly signal?: AbortSignal
  /** How long a host that is away or full is asked again; 0: once. */
  readonly patienceMs?: number
  /** The container as it was read a moment ago, which need not be read again. */
  readonly known?: ReachableRow | null
}

/** A request waits for so long. */
const requestPatienceMs = 10_000
/** A command waits longer: a host that is being restarted is back within this, and the sweep gives up on one that is not. */
export const commandPatienceMs = 90_000
const pauses = { baseMs: 100, maxMs: 2_000, factor: 2, jitter: 0.3 }

export const noRoom = () =>
  new Fault('server_overloaded', 'No sandbox host has room for the container now.', { retryAfterMs: 5_000 })

const silent = (containerId: string, cause: unknown) =>
  new Fault('server_overloaded', `The host of the container ${containerId} does not answer.`, {
    retryAfterMs: 2_000,
    cause,
  })

/**
 * Asks the host of a container, giving it one first if it has none. While the host is away it is asked again: whatever is
 * asked must bear that. Throws ContainerLost when the container is over.
 */
export async function reachHost<Result>(
  use: ReachUses,
  containerId: string,
  ask: (owner: MeshOwner, order: BoxOrder) => Promise<Result>,
  { signal, patienceMs = requestPatienceMs, known = null }: ReachOptions = {},
): Promise<Result> {
  const until = Date.now() + patienceMs
  for (let attempt = 1; ; attempt += 1) {
    const row = (attempt === 1 ? known : null) ?? (await findAnyContainer(use.db, containerId))
    if (row === null || row.status === 'expired' || row.status === 'deleted') throw lost(containerId, row)
    try {
      const owner = ownerOf(row) ?? (await placeContainer(use.db, row.id, row.memory_bytes))
      if (owner === null) throw noRoom()
      return await ask(owner, orderOf(row))
    } catch (error) {
      const away = error instanceof MeshUnreachable || (error instanceof Fault && error.code === 'server_overloaded')
      if (!away || signal?.aborted === true) throw error
      // It is not known to be over: its host may be back, and with it all of its files.
      if (Date.now() >= until) throw error instanceof Fault ? error : silent(containerId, error)
    }
    await sleep(backoff(pauses, attempt, Math.random), signal)
    signal?.throwIfAborted()
  }
}

const ownerOf = ({ host_id: id, host_url: url }: ReachableRow): MeshOwner | null =>
  id === null || url === null ? null : { id, url }

function lost(containerId: string, row: ContainerRow | null): ContainerLost {
  const why = row?.status_reason ?? (row?.status === 'expired' ? 'It had expired.' : 'It was deleted.')
  return new ContainerLost(`The container ${containerId} is gone. ${why}`)
}

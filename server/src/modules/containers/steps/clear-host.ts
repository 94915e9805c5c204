import { bounded } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { hostCommands } from '../host/wire.ts'
import { findHost } from '../store/hosts.ts'
import type { ReachUses } from './reach-host.ts'

const clearMs = 10_000

/** The host deletes within a second anyway; whoever deletes would rather know. */
export async function clearHost(use: ReachUses & { readonly log: Log }, hostId: string): Promise<void> {
  const host = await findHost(use.db, hostId)
  const clear = async () => {
    if (host?.alive === true) await use.mesh.ask(host, hostCommands.clear, { input: null })
  }
  await bounded(clearMs, clear).catch((err: unknown) => use.log.info({ err, hostId }, 'its host deletes it later'))
}

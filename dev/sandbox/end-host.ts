import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { createEgressClient } from '../../server/src/modules/containers/egress/client.ts'
import { removeBoxFolder } from '../../server/src/modules/containers/host/box-folder.ts'
import { hostLabel } from '../../server/src/modules/containers/host/boxes.ts'
import { endProcess } from '../processes.ts'

const proxyEndMs = 10_000

/**
 * Ends what outlives the process of a sandbox host: its containers, their files and mounts, the egress proxy. In
 * production they are meant to; after dev and after a test nothing of them may be left.
 */
export async function endHost(socket: string, dir: string): Promise<void> {
  const hostId = (await readFile(join(dir, 'host-id'), 'utf8').catch(() => '')).trim()
  if (hostId === '') return
  const engine = createEngineApi(socket)
  const containers = await engine.list(`${hostLabel}=${hostId}`).catch(() => [])
  await Promise.allSettled(containers.map(({ id }) => engine.remove(id)))
  const boxes = join(dir, 'boxes')
  for (const name of await readdir(boxes).catch(() => [])) await removeBoxFolder(join(boxes, name))
  const proxy = await createEgressClient(join(dir, 'egress'))
    .ping()
    .catch(() => null)
  if (proxy !== null) await endProcess(proxy.pid, 'SIGTERM', proxyEndMs)
  // A host that comes back without its files is another one: what it had is told as lost, not as empty.
  await rm(join(dir, 'host-id'), { force: true })
}

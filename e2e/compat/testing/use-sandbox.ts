import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sharedDocker, type SharedDocker } from '../../../dev/engines/shared-docker.ts'
import { ensureImage } from '../../../sandbox/runtime/ensure-image.ts'
import { endHost } from '../../../server/src/modules/containers/testing/sandbox-app.ts'

/** The settings of a stack that hosts containers on the machine's test engine. What it leaves goes after the tests. */
export function useSandbox(): () => Promise<Readonly<Record<string, string>>> {
  let docker: SharedDocker | null = null
  let dir: string | null = null
  after(async () => {
    if (dir !== null && docker !== null) {
      await endHost(dir, docker.socket)
      await rm(dir, { recursive: true, force: true })
    }
    await docker?.stop()
  })
  return async () => {
    docker = await sharedDocker()
    dir = await mkdtemp(join(tmpdir(), 'switchyard-sandbox-'))
    return {
      SWITCHYARD_SANDBOX_DOCKER_SOCKET: docker.socket,
      SWITCHYARD_SANDBOX_IMAGE: await ensureImage('slim', docker.socket),
      SWITCHYARD_SANDBOX_DIR: dir,
      SWITCHYARD_SANDBOX_POOL: '1',
    }
  }
}

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { createEgressClient } from '../egress/client.ts'
import { removeBoxFolder } from '../host/box-folder.ts'
import { hostLabel } from '../host/boxes.ts'

export type Runtime = 'runc' | 'runsc'
export const runtimes: readonly Runtime[] = ['runc', 'runsc']

export interface SandboxOptions {
  readonly runtime: Runtime
  readonly image?: 'slim' | 'full'
  readonly settings?: Readonly<Record<string, string>>
  readonly roles?: Parameters<typeof testApp>[2]
  /** An engine of the test's own; without one it is the machine's. */
  readonly docker?: { readonly socket: string; stop(): Promise<void> }
}

export interface SandboxApp extends TestApp {
  /** The host's own folder. */
  readonly dir: string
  readonly socket: string
  readonly imageTag: string
}

/** The whole app with a sandbox host of its own on the machine's test engine: real containers, real runtimes. */
export async function sandboxApp(t: TestContext, options: SandboxOptions): Promise<SandboxApp> {
  const { sharedDocker } = await import('../../../../../dev/engines/shared-docker.ts')
  const { ensureImage } = await import('../../../../../sandbox/runtime/ensure-image.ts')
  const docker = options.docker ?? (await sharedDocker())
  const dir = await mkdtemp(join(tmpdir(), 'switchyard-sandbox-'))
  try {
    const imageTag = await ensureImage(options.image ?? 'slim', docker.socket)
    const app = await testApp(
      t,
      {
        SWITCHYARD_SANDBOX_DOCKER_SOCKET: docker.socket,
        SWITCHYARD_SANDBOX_IMAGE: imageTag,
        SWITCHYARD_SANDBOX_RUNTIME: options.runtime,
        SWITCHYARD_SANDBOX_DIR: dir,
        SWITCHYARD_SANDBOX_POOL: '1',
        ...options.settings,
      },
      options.roles ?? ['api', 'sandbox', 'worker'],
    )
    return { ...app, dir, socket: docker.socket, imageTag }
  } finally {
    // Registered after the app's own, and so carried out after it: a host that still runs would put things back.
    t.after(async () => {
      await endHost(dir, docker.socket)
      await docker.stop()
    })
  }
}

/** Containers and the proxy outlive their host's process; a test's do not outlive the test. */
export async function endHost(dir: string, socket: string): Promise<void> {
  const engine = createEngineApi(socket)
  const proxy = await createEgressClient(join(dir, 'egress'))
    .ping()
    .catch(() => null)
  if (proxy !== null) process.kill(proxy.pid)
  const hostId = (await readFile(join(dir, 'host-id'), 'utf8').catch(() => '')).trim()
  if (hostId !== '') for (const { id } of await engine.list(`${hostLabel}=${hostId}`)) await engine.remove(id)
  const boxes = join(dir, 'boxes')
  for (const name of await readdir(boxes).catch(() => [])) await removeBoxFolder(join(boxes, name))
  await rm(dir, { recursive: true, force: true })
}

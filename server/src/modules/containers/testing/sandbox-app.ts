import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { testApp, type TestApp } from '../../../../test/test-app.ts'

export type Runtime = 'runc' | 'runsc'
export const runtimes: readonly Runtime[] = ['runc', 'runsc']

export interface SandboxOptions {
  readonly runtime: Runtime
  readonly image?: 'slim' | 'full'
  readonly settings?: Readonly<Record<string, string>>
  readonly roles?: Parameters<typeof testApp>[2]
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
  const docker = await sharedDocker()
  const image = await ensureImage(options.image ?? 'slim', docker.socket)
  const dir = await mkdtemp(join(tmpdir(), 'switchyard-sandbox-'))
  // Registered before the app's own: what is registered last ends first.
  t.after(async () => {
    await endHost(dir)
    await rm(dir, { recursive: true, force: true })
    await docker.stop()
  })
  const app = await testApp(
    t,
    {
      SWITCHYARD_SANDBOX_DOCKER_SOCKET: docker.socket,
      SWITCHYARD_SANDBOX_IMAGE: image,
      SWITCHYARD_SANDBOX_RUNTIME: options.runtime,
      SWITCHYARD_SANDBOX_DIR: dir,
      SWITCHYARD_SANDBOX_POOL: '1',
      ...options.settings,
    },
    options.roles ?? ['api', 'sandbox', 'worker'],
  )
  return { ...app, dir, socket: docker.socket, imageTag: image }
}

/** Containers outlive their host's process; a test's do not outlive the test. */
async function endHost(dir: string): Promise<void> {
  const { readdir, readFile } = await import('node:fs/promises')
  const { createEngineApi } = await import('#platform/docker/engine-api.ts')
  const { removeBoxFolder } = await import('../host/box-folder.ts')
  const { sharedDocker } = await import('../../../../../dev/engines/shared-docker.ts')
  const docker = await sharedDocker()
  const engine = createEngineApi(docker.socket)
  const hostId = (await readFile(join(dir, 'host-id'), 'utf8').catch(() => '')).trim()
  if (hostId !== '') for (const { id } of await engine.list(`switchyard.host=${hostId}`)) await engine.remove(id)
  const boxes = join(dir, 'boxes')
  for (const name of await readdir(boxes).catch(() => [])) await removeBoxFolder(join(boxes, name))
  const ended = await import('../egress/client.ts').then(({ createEgressClient }) =>
    createEgressClient(join(dir, 'egress'))
      .ping()
      .catch(() => null),
  )
  if (ended !== null) process.kill(ended.pid)
  await docker.stop()
}

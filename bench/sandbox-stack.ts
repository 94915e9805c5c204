import assert from 'node:assert/strict'
import Docker from 'dockerode'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { loadSettings } from '#platform/config/load.ts'
import { run } from '#platform/lifecycle/run.ts'
import { newId } from '#platform/std/ids.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { sharedDocker } from '../dev/engines/shared-docker.ts'
import { endHost } from '../dev/sandbox/end-host.ts'
import type { Stack } from '../dev/stack.ts'
import { startTemporaryStack } from '../e2e/temporary-stack.ts'
import { ensureImage } from '../sandbox/runtime/ensure-image.ts'
import { partsOf } from '../server/src/roles/roles.ts'
import { wire } from '../server/src/wiring.ts'

export type Runtime = 'runc' | 'runsc'

export interface SandboxEngine {
  readonly socket: string
  /** Asks the same engine as the product does, through the same socket. */
  readonly docker: Docker
  readonly image: string
}

export async function withSandboxEngine<Result>(work: (engine: SandboxEngine) => Promise<Result>): Promise<Result> {
  const { socket, stop } = await sharedDocker()
  try {
    return await work({ socket, docker: new Docker({ socketPath: socket }), image: await ensureImage('slim', socket) })
  } finally {
    await stop()
  }
}

/** All engines, for hosts that come and go. */
export interface SandboxBench extends SandboxEngine {
  readonly stack: Stack
}

export async function withSandboxEngines<Result>(work: (bench: SandboxBench) => Promise<Result>): Promise<Result> {
  return await withSandboxEngine(async (engine) => {
    const stack = await startTemporaryStack({ nodes: {} })
    try {
      return await work({ ...engine, stack })
    } finally {
      await stack.stop()
    }
  })
}

export interface HostOptions {
  readonly runtime: Runtime
  readonly pool: number
  readonly settings?: Readonly<Record<string, string>>
}

/** What a sandbox host of a bench is told, wherever it runs. */
export const hostSettings = (
  { socket, image }: SandboxEngine,
  folder: string,
  { runtime, pool, settings }: HostOptions,
) => ({
  SWITCHYARD_SANDBOX_DOCKER_SOCKET: socket,
  SWITCHYARD_SANDBOX_IMAGE: image,
  SWITCHYARD_SANDBOX_RUNTIME: runtime,
  SWITCHYARD_SANDBOX_DIR: folder,
  SWITCHYARD_SANDBOX_POOL: String(pool),
  ...settings,
})

/** One process with the roles api and sandbox: this one, so that both twins share a process and its event loop. */
export interface BenchHost {
  readonly runtime: Runtime
  readonly folder: string
  /** Reserves a container as a response does. */
  place(environment?: Readonly<Record<string, unknown>>): Promise<string>
  /** Runs a command to its end. Gives what it printed, and when the first of it came. */
  exec(containerId: string, command: string): Promise<{ stdout: string; firstAt: number }>
  /** Ends a container and waits until nothing of it is left and the pool is full again. */
  end(containerId: string): Promise<void>
  /** Waits until so many containers run and the pool is full. */
  settle(containers: number): Promise<void>
}

const commandMs = 120_000
const settlePollMs = 20
const settlePolls = 3_000

export async function withHost<Result>(
  bench: SandboxBench,
  options: HostOptions,
  work: (host: BenchHost) => Promise<Result>,
): Promise<Result> {
  const { runtime, pool } = options
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-sandbox-'))
  const log = createLog({ level: 'warn', pretty: false, name: 'bench', destination: nowhere() })
  const loaded = loadSettings({ ...bench.stack.env, ...hostSettings(bench, folder, options) })
  const wired = await wire(loaded, log)
  const parts = partsOf(['api', 'sandbox'], wired)
  const running = run(parts, { log, drainTimeoutMs: 5_000, stopTimeoutMs: 10_000 })
  try {
    await running.started
    const ready = parts.find(({ name }) => name === 'sandbox host')?.ready
    const settle = async (containers: number) => {
      for (let poll = 0; poll < settlePolls; poll += 1) {
        const told = await ready?.()
        if (told !== undefined && JSON.stringify(told).includes(`${containers} containers, ${pool} waiting`)) return
        await wait(settlePollMs)
      }
      throw new Error(`the host did not settle: ${JSON.stringify(await ready?.())}`)
    }
    await settle(0)
    return await work({ runtime, folder, settle, ...shellOf(bench, wired, settle) })
  } finally {
    await running.stop()
    await endHost(bench.socket, folder)
    rmSync(folder, { recursive: true, force: true })
  }
}

function shellOf(
  { stack }: SandboxBench,
  { containers }: Awaited<ReturnType<typeof wire>>,
  settle: BenchHost['settle'],
): Pick<BenchHost, 'place' | 'exec' | 'end'> {
  const { shell } = containers
  return {
    async place(environment = {}) {
      const tool = { type: 'shell', environment: { type: 'container_auto', ...environment } } as const
      const { projectId } = stack.seeded
      const asked = { projectId, responseId: newId('resp_'), tool, param: 'tools[0]', files: [] }
      return (await shell.place(asked)).containerId
    },
    async exec(containerId, command) {
      let firstAt = Number.NaN
      const { entries } = await shell.run(
        { containerId, responseId: newId('resp_'), callId: newId('call_'), commands: [command], timeoutMs: commandMs },
        {
          signal: new AbortController().signal,
          endOnAbort: true,
          onOutput: () => {
            if (Number.isNaN(firstAt)) firstAt = performance.now()
          },
        },
      )
      const [entry] = entries
      assert.deepEqual(entry?.outcome, { type: 'exit', exit_code: 0 }, entry?.stderr)
      return { stdout: entry?.stdout ?? '', firstAt }
    },
    async end(containerId) {
      const reply = await fetch(`http://127.0.0.1:${stack.httpPort}/v1/containers/${containerId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${stack.seeded.projectKey}` },
      })
      assert.equal(reply.status, 200, await reply.text())
      await settle(0)
    },
  }
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

import { fileURLToPath } from 'node:url'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess, type SupervisedProcess } from './engines/process.ts'

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const readyBoundMs = 60_000
/** Above the drain timeout that dev gives its nodes. */
const stopBoundMs = 40_000

export interface ServerNodeOptions {
  /** `api 1`, `worker 2`, or `server` when one process runs all roles. */
  readonly name: string
  readonly roles: string
  readonly dataDir: string
  readonly internalPort: number
  readonly env: NodeJS.ProcessEnv
  /** Started instead of the server's own program, with the same arguments. */
  readonly program?: string
  readonly onProgress?: (line: string) => void
  readonly onUnexpectedExit?: (reason: string) => void
}

/** One process of the server, as an operator would run it. */
export interface ServerNode {
  readonly name: string
  readonly roles: string
  readonly internalUrl: string
  readonly logFile: string
  readonly process: SupervisedProcess
  waitReady(): Promise<void>
}

async function isReady(internalUrl: string): Promise<boolean> {
  const reply = await fetch(`${internalUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })
  await reply.body?.cancel()
  return reply.ok
}

export async function startServerNode(options: ServerNodeOptions): Promise<ServerNode> {
  const folder = join(options.dataDir, 'nodes')
  mkdirSync(folder, { recursive: true })
  const fileName = options.name.replaceAll(' ', '-')
  const logFile = join(folder, `${fileName}.log`)
  const internalUrl = `http://127.0.0.1:${options.internalPort}`
  const supervised = await startProcess(
    process.execPath,
    [options.program ?? main, 'serve', `--roles=${options.roles}`],
    {
      name: options.name,
      logFile,
      pidFile: join(folder, `${fileName}.pid`),
      env: { ...options.env, SWITCHYARD_INTERNAL_PORT: String(options.internalPort) },
      stopBoundMs,
      ...(options.onProgress && { onProgress: options.onProgress }),
      ...(options.onUnexpectedExit && { onUnexpectedExit: options.onUnexpectedExit }),
    },
  )
  return {
    name: options.name,
    roles: options.roles,
    internalUrl,
    logFile,
    process: supervised,
    waitReady: () => supervised.waitReady(() => isReady(internalUrl), readyBoundMs),
  }
}

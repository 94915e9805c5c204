import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, readFile, rm } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { controlSocketOf } from './client.ts'
import { createControl } from './control.ts'
import { EgressProxy, type EgressSettings } from './proxy.ts'

export const settingsFileOf = (folder: string): string => join(folder, 'settings.json')

/** Runs the proxy until SIGTERM. Returns the exit code; 0 at once when another one already serves the folder. */
export async function runEgress(folder: string, say: (line: string) => void): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const lock = await takeFolder(folder)
  if (lock === null) return 0
  const proxy = new EgressProxy(await readSettings(folder))
  const reload = async () => proxy.use(await readSettings(folder))
  const control = createControl(proxy, reload, new Date())
  await rm(controlSocketOf(folder), { force: true })
  control.listen(controlSocketOf(folder))
  await once(control, 'listening')
  // An error that nobody caught must not take every container's secrets along. Its message may quote what a client
  // sent, so only its place in the code is told.
  process.on('uncaughtException', (error) => say(`egress: ${placeOf(error)}`))
  process.on('unhandledRejection', (error) => say(`egress: ${placeOf(error)}`))
  // Written now: this process ends by a signal, if ever.
  flushCompileCache()
  say(`egress: serving, pid ${process.pid}`)
  await new Promise<void>((stop) => {
    process.once('SIGTERM', () => stop())
    process.once('SIGINT', () => stop())
  })
  control.closeAllConnections()
  control.close()
  await proxy.close()
  lock.close()
  return 0
}

function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return `${error.name} ${code} ${(error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join(' |')}`
}

/** The kernel lets go of an abstract socket when its process dies, however it dies; a lock file would stay behind. */
async function takeFolder(folder: string) {
  const name = createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 32)
  const lock = createServer((socket) => socket.destroy())
  try {
    lock.listen(`\0switchyard-egress-${name}`)
    await once(lock, 'listening')
    return lock
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null
    throw error
  }
}

async function readSettings(folder: string): Promise<EgressSettings> {
  try {
    return JSON.parse(await readFile(settingsFileOf(folder), 'utf8')) as EgressSettings
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

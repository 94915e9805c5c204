import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createEgressClient, EgressFailed, type EgressClient } from './client.ts'
import { settingsFileOf } from './process.ts'
import type { EgressSettings } from './proxy.ts'

const START_TIMEOUT_MS = 15_000
const POLL_MS = 25
const HEAP_MB_MAX = 256

/**
 * The proxy of this machine: the one that runs, told to read its settings anew, or a new one in a process of its own
 * that outlives this one. `environment` is all that it gets to see; give it NODE_EXTRA_CA_CERTS if there is one.
 */
export async function startEgress(use: {
  folder: string
  settings: EgressSettings
  environment: Readonly<Record<string, string>>
}): Promise<EgressClient & { startedHere: boolean }> {
  await mkdir(use.folder, { recursive: true, mode: 0o700 })
  await chmod(use.folder, 0o700)
  const draft = `${settingsFileOf(use.folder)}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(use.settings), { mode: 0o600 })
  await rename(draft, settingsFileOf(use.folder))
  const client = createEgressClient(use.folder)
  if (await answers(client)) {
    await client.reload()
    return { ...client, startedHere: false }
  }
  await spawnDetached(use.folder, use.environment)
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    if (await answers(client)) return { ...client, startedHere: true }
    await wait(POLL_MS)
  }
  throw new EgressFailed(`The egress proxy did not start; see ${join(use.folder, 'egress.log')}.`, true)
}

async function answers(client: EgressClient): Promise<boolean> {
  try {
    await client.ping()
    return true
  } catch (error) {
    if (error instanceof EgressFailed && error.gone) return false
    throw error
  }
}

async function spawnDetached(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const main = fileURLToPath(new URL('../../../main.ts', import.meta.url))
  const log = await open(join(folder, 'egress.log'), 'a', 0o600)
  try {
    const flags = [`--max-old-space-size=${HEAP_MB_MAX}`, '--max-semi-space-size=2', '--use-system-ca']
    const child = spawn(process.execPath, [...flags, main, 'egress', '--folder', folder], {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      // Types are stripped once and not by every start: that alone halves the memory of the process.
      env: { ...environment, NODE_COMPILE_CACHE: join(folder, 'code') },
      cwd: '/',
    })
    child.on('error', () => undefined)
    child.unref()
  } finally {
    await log.close()
  }
}

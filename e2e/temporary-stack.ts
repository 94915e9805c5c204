import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reapStaleProcess, recordedProcessLives, recordProcess } from '../dev/processes.ts'
import { startStack, type Stack, type StackOptions } from '../dev/stack.ts'

const FOLDER_PREFIX = 'switchyard-e2e-'
const OWNER_FILE = 'owner.pid'
/** Nodes before the engines they stand on. */
const PROCESS_FOLDERS = ['nodes', 'restate', 'valkey', 'postgres']

const INTERRUPTED = { SIGINT: 130, SIGTERM: 143 } as const

/** A whole stack in a folder of its own, which goes with it. */
export async function startTemporaryStack(
  options: Pick<StackOptions, 'nodes' | 'settings' | 'onProgress'>,
): Promise<Stack> {
  await removeAbandonedFolders()
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX))
  recordProcess(join(folder, OWNER_FILE), process.pid)
  // Run by root, PostgreSQL is another user, who must be able to pass; the secrets inside are private.
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const stack = await startStack({ dataDir: folder, ...options })
    const forget = onInterrupt(async () => {
      await stack.stop()
      remove()
    })
    return {
      ...stack,
      async stop() {
        forget()
        await stack.stop()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Whoever interrupts a run gets a clean machine first. Returns how to take that back. */
function onInterrupt(end: () => Promise<void>): () => void {
  const receive = (signal: NodeJS.Signals) => {
    const leave = () => process.exit(INTERRUPTED[signal as keyof typeof INTERRUPTED])
    end().then(leave, leave)
  }
  for (const signal of Object.keys(INTERRUPTED)) process.once(signal, receive)
  return () => {
    for (const signal of Object.keys(INTERRUPTED)) process.off(signal, receive)
  }
}

/** A run that was killed leaves its processes and its folder; the next run ends and removes them. */
async function removeAbandonedFolders(): Promise<void> {
  const names = readdirSync(tmpdir()).filter((name) => name.startsWith(FOLDER_PREFIX))
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    if (recordedProcessLives(join(folder, OWNER_FILE)) !== false) continue
    for (const pidFile of PROCESS_FOLDERS.flatMap((name) => pidFilesIn(join(folder, name)))) {
      await reapStaleProcess(pidFile, 'SIGINT')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

function pidFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith('.pid'))
  return names.map((name) => join(folder, name))
}

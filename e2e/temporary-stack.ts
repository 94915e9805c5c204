import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reapStaleProcess, recordedProcessLives, recordProcess } from '../dev/processes.ts'
import { startStack, type Stack, type StackOptions } from '../dev/stack.ts'

const FOLDER_PREFIX = 'switchyard-e2e-'
const OWNER_FILE = 'owner.pid'
/** Nodes before the engines they stand on. */
const PROCESS_FOLDERS = ['nodes', 'restate', 'valkey', 'postgres']

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
    return {
      ...stack,
      async stop() {
        await stack.stop()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
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

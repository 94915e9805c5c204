import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEgressClient } from '../../server/src/modules/containers/egress/client.ts'
import { endDocker } from '../../dev/engines/docker.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { reapStaleProcess, recordedProcessLives, recordProcess } from '../../dev/processes.ts'

const prefix = 'switchyard-fleet-'
const ownerFile = 'owner.pid'
/** Nodes before the engines they stand on. */
const processFolders = ['nodes', 'stack/restate', 'stack/valkey', 'stack/postgres']
const unmountMs = 30_000
const unmountedMs = 30_000

/** A folder for everything of one fleet. What killed runs left is ended and removed first. */
export async function makeFleetFolder(): Promise<string> {
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
    const left = join(tmpdir(), name)
    if (recordedProcessLives(join(left, ownerFile)) === false) await removeFleetFolder(left)
  }
  const folder = mkdtempSync(join(tmpdir(), prefix))
  recordProcess(join(folder, ownerFile), process.pid)
  // PostgreSQL is another user, who must be able to pass.
  chmodSync(folder, 0o755)
  return folder
}

/** Ends what still runs in it, takes off what is mounted in it, and removes it. */
export async function removeFleetFolder(folder: string): Promise<void> {
  for (const pidFile of processFolders.flatMap((name) => pidFilesIn(join(folder, name)))) {
    await reapStaleProcess(pidFile, 'SIGINT')
  }
  for (const dir of hostDirsIn(folder)) await endEgress(dir)
  if (existsSync(join(folder, 'docker'))) await endDocker(join(folder, 'docker'))
  await becomesTrue(() => {
    for (const point of mountsUnder(folder).toReversed()) {
      execFileSync('umount', ['--lazy', point], { timeout: unmountMs, stdio: 'ignore' })
    }
    return mountsUnder(folder).length === 0
  }, unmountedMs)
  rmSync(folder, { recursive: true, force: true })
}

export const hostDirsIn = (folder: string): string[] =>
  existsSync(join(folder, 'hosts')) ? readdirSync(join(folder, 'hosts')).map((name) => join(folder, 'hosts', name)) : []

export const egressOf = (hostDir: string) => createEgressClient(join(hostDir, 'egress'))

/** The proxy outlives its host's process; it does not outlive the run. */
async function endEgress(hostDir: string): Promise<void> {
  const found = await egressOf(hostDir)
    .ping()
    .catch(() => null)
  if (found !== null) process.kill(found.pid)
}

export function mountsUnder(folder: string): string[] {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  return lines.map((line) => line.split(' ')[1] ?? '').filter((point) => point.startsWith(`${folder}/`))
}

function pidFilesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith('.pid'))
  return names.map((name) => join(folder, name))
}

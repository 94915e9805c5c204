import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { boxesOf } from './boxes-on-disk.ts'
import type { SandboxFleet } from './sandbox-fleet.ts'

const run = promisify(execFile)
const searchMs = 300_000
const outputBytesMax = 64 * 1024 * 1024

/** Where canaries were found: each with its number of places. */
export type Found = ReadonlyMap<string, number>

export interface Searched {
  readonly blobs: Found
  readonly hosts: Found
  readonly docker: Found
}

/**
 * Reads every byte that the fleet keeps on disk: blobs, the folders of its hosts with what is mounted in them, and the
 * folders of its Docker engine but for the view through a running container, which repeats its layers. `live` says of
 * which containers the disk's image need not be read as well as the disk.
 */
export async function searchCanaries(fleet: SandboxFleet, mark: string, live: ReadonlySet<string>): Promise<Searched> {
  const skipped = fleet.hosts
    .flatMap(({ dir }) => boxesOf(dir))
    .filter(({ containerId }) => containerId !== null && live.has(containerId))
    .map(({ root }) => join(root, 'disk.img'))
  const hosts = fleet.hosts.map(({ dir }) => dir)
  return {
    blobs: await search(mark, [fleet.stack.env['SWITCHYARD_BLOBS_DIR'] ?? ''], []),
    hosts: await search(mark, hosts, skipped),
    docker: await search(mark, engineFolders(fleet), []),
  }
}

function engineFolders({ docker }: SandboxFleet): string[] {
  return readdirSync(docker.folders.dataRoot).map((name) => join(docker.folders.dataRoot, name))
}

async function search(mark: string, folders: readonly string[], skipped: readonly string[]): Promise<Found> {
  const skip = skipped.flatMap((path) => ['-path', path, '-prune', '-o'])
  const views = ['(', '-name', 'merged', '-o', '-name', 'rootfs', ')', '-prune', '-o']
  const files = await output('find', [...folders, ...views, ...skip, '-type', 'f', '-print0'])
  const names = files.toString().split('\0').filter(Boolean)
  const found = new Map<string, number>()
  const note = (text: string) => {
    for (const [canary] of text.matchAll(new RegExp(`${mark}\\w+`, 'g')))
      found.set(canary, (found.get(canary) ?? 0) + 1)
  }
  for (const name of names) note(name)
  const batch = 2_000
  for (let at = 0; at < names.length; at += batch) {
    const some = names.slice(at, at + batch)
    note(
      (
        await output('grep', ['--text', '--only-matching', '--no-filename', `${mark}[a-z0-9]*`, '--', ...some])
      ).toString(),
    )
  }
  return found
}

/** Both programs say with their exit code that something went away under them, or that there was nothing. */
async function output(program: string, args: readonly string[]): Promise<Buffer> {
  const options = { timeout: searchMs, maxBuffer: outputBytesMax, encoding: 'buffer' as const }
  try {
    return (await run(program, [...args], options)).stdout
  } catch (error) {
    const { stdout, code } = error as { stdout?: Buffer; code?: unknown }
    if (stdout !== undefined && (code === 1 || code === 2)) return stdout
    throw error
  }
}

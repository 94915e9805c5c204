import { execFile } from 'node:child_process'
import { chown, mkdir, open, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const commandMs = 60_000
const spoolBytes = 16 * 1024 * 1024
const spoolInodes = 4_096
const unmountTries = 20
const unmountPauseMs = 100

/** What a host keeps of a box, outside of the container engine. */
export interface BoxFolder {
  readonly root: string
  /** Bound at /mnt/data: a file system of its own, whose size is the quota. */
  readonly disk: string
  /** Bound at /mnt/skills, read-only. */
  readonly skills: string
  /** Bound at /run/egress, read-only. */
  readonly egress: string
  /** Bound at /run/spool: what commands print, until the host has taken it. */
  readonly spool: string
  /** The ledger: what was begun and how it ended. Not visible inside. */
  readonly commands: string
}

export function boxFolder(root: string): BoxFolder {
  const at = (name: string) => join(root, name)
  return {
    root,
    disk: at('disk'),
    skills: at('skills'),
    egress: at('egress'),
    spool: at('spool'),
    commands: at('commands'),
  }
}

export interface FolderOptions {
  readonly diskBytes: number
  readonly uid: number
  /** Without it there are plain folders and no quota: only root may mount. */
  readonly quota: boolean
}

export async function makeBoxFolder(root: string, { diskBytes, uid, quota }: FolderOptions): Promise<BoxFolder> {
  const folder = boxFolder(root)
  for (const path of [folder.root, folder.commands]) await mkdir(path, { recursive: true, mode: 0o700 })
  for (const path of [folder.disk, folder.skills, folder.egress, folder.spool]) await mkdir(path, { mode: 0o755 })
  if (!quota) return folder
  const image = join(root, 'disk.img')
  await using file = await open(image, 'wx', 0o600)
  await file.truncate(diskBytes)
  // No journal: what a crash of the machine loses is lost with the container anyway.
  const features = ['-q', '-F', '-O', '^has_journal', '-E', `lazy_itable_init=1,nodiscard,root_owner=${uid}:${uid}`]
  await Promise.all([
    run('mkfs.ext4', [...features, '-m', '0', image], { timeout: commandMs }),
    mountSpool(folder.spool),
  ])
  await run('mount', ['-o', 'loop,nosuid,nodev,noatime', image, folder.disk], { timeout: commandMs })
  await rmdir(join(folder.disk, 'lost+found'))
  await chown(folder.disk, uid, uid)
  return folder
}

async function mountSpool(path: string): Promise<void> {
  const options = `size=${spoolBytes},nr_inodes=${spoolInodes},mode=0755,nosuid,nodev,noexec`
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { timeout: commandMs })
}

/** Empties it. Nothing runs in its box any more. */
export async function renewSpool(path: string, quota: boolean): Promise<void> {
  await unmount(path)
  await rm(path, { recursive: true, force: true })
  await mkdir(path, { mode: 0o755 })
  if (quota) await mountSpool(path)
}

/** Takes everything away, whatever state it is in. Idempotent. */
export async function removeBoxFolder(root: string): Promise<void> {
  const { disk, spool } = boxFolder(root)
  for (const path of [disk, spool]) await unmount(path)
  await rm(root, { recursive: true, force: true })
}

/** A mount may be busy for a moment after its container has gone. What stays busy is taken off lazily. */
async function unmount(path: string): Promise<void> {
  for (let attempt = 0; attempt < unmountTries && (await isMounted(path)); attempt += 1) {
    const lazily = attempt > unmountTries / 2 ? ['-l'] : []
    await run('umount', [...lazily, path], { timeout: commandMs }).catch(() => undefined)
    if (await isMounted(path)) await new Promise((resolve) => setTimeout(resolve, unmountPauseMs))
  }
}

async function isMounted(path: string): Promise<boolean> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '')
  return mounts.includes(` ${path.replaceAll(' ', '\\040')} `)
}

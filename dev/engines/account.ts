import { spawnSync } from 'node:child_process'
import { chownSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Who runs an engine that refuses to run as root. */
export interface Account {
  name: string
  /** Put before the command line; empty when the account needs no wrapper. */
  wrapper: string[]
  /** The user the process is started as; absent means "as we are". */
  uid?: number
  gid?: number
  /** Whoever must own the files. */
  owner: { uid: number; gid: number }
}

// Any id but 0: inside the namespace it stands for root outside, who owns the files.
const NAMESPACE_ID = 1000

/**
 * Chooses the account for PostgreSQL, which refuses to run as root. An ordinary user runs it as themselves. Root runs
 * it as `postgres` or `nobody`, if that user can reach every given path; else as root under another number in a user
 * namespace, which the kernel treats as root for files and PostgreSQL does not recognise as root.
 */
export function chooseAccount(paths: string[]): Account {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  if (uid !== 0) return { name: 'the current user', wrapper: [], owner: { uid, gid } }

  const user = findUser('postgres') ?? findUser('nobody')
  const blocked = user === null ? null : findBlockedPath(paths, user)
  if (user !== null && blocked === null) {
    return { name: user.name, wrapper: [], uid: user.uid, gid: user.gid, owner: { uid: user.uid, gid: user.gid } }
  }
  if (userNamespacesWork()) {
    return { name: 'root in a user namespace', wrapper: namespaceWrapper(), owner: { uid: 0, gid: 0 } }
  }
  throw new Error(explainBlocked(user?.name ?? null, blocked))
}

export interface SystemUser {
  name: string
  uid: number
  gid: number
}

export function findUser(name: string): SystemUser | null {
  let users: string
  try {
    users = readFileSync('/etc/passwd', 'utf8')
  } catch {
    return null
  }
  const fields = users
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))
    ?.split(':')
  if (fields === undefined) return null
  return { name, uid: Number(fields[2]), gid: Number(fields[3]) }
}

/** The first folder on the way to one of the paths that the user may not enter, or null. Only root can ask this. */
export function findBlockedPath(paths: string[], user: SystemUser): string | null {
  const folders = new Set(paths.flatMap((path) => ancestors(path)))
  for (const folder of folders) {
    const asked = spawnSync('/bin/sh', ['-c', 'test -x "$0"', folder], { uid: user.uid, gid: user.gid, cwd: '/' })
    if (asked.status !== 0) return folder
  }
  return null
}

export function explainBlocked(user: string | null, blocked: string | null): string {
  const why =
    user === null || blocked === null
      ? 'no user "postgres" or "nobody" exists to run it'
      : `user "${user}", who would run it, may not enter ${blocked}`
  return [
    `PostgreSQL does not run as root, and ${why}. Do one of these:`,
    '  - run this command as an ordinary user (simplest);',
    '  - keep the checkout where every user may enter, such as /srv or /opt;',
    blocked === null
      ? '  - create the user: useradd --system postgres;'
      : `  - let others pass through: chmod o+x ${blocked};`,
    '  - give the address of a running PostgreSQL instead.',
  ].join('\n')
}

export function userNamespacesWork(): boolean {
  const [command = 'unshare', ...args] = namespaceWrapper()
  return spawnSync(command, [...args, 'true'], { cwd: '/' }).status === 0
}

function namespaceWrapper(): string[] {
  return ['unshare', '--user', `--map-user=${NAMESPACE_ID}`, `--map-group=${NAMESPACE_ID}`, '--']
}

/** Hands a folder and everything in it to the account, unless it is theirs already. */
export function giveFolder(folder: string, owner: Account['owner']): void {
  if (process.getuid?.() !== 0) return
  const now = lstatSync(folder)
  if (now.uid === owner.uid && now.gid === owner.gid) return
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry)
    if (!lstatSync(path).isSymbolicLink()) chownSync(path, owner.uid, owner.gid)
  }
  chownSync(folder, owner.uid, owner.gid)
}

function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...ancestors(parent), parent]
}

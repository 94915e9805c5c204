import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Larger files in the tree are fixtures, not places where someone writes an address. */
const FILE_BYTES_MAX = 2 * 1024 * 1024
const GIT_OUTPUT_BYTES_MAX = 64 * 1024 * 1024

const DOWNLOAD = /"resolved":\s*"(?:https?|git|ssh)[^"]*"/
const REGISTRY_SETTING = /^\s*(?:@[\w-]+:)?registry\s*=/m
const REGISTRY_HOST = /\b(?:registry|npm)\.(?:[\w-]+\.)+(?:org|com|net|io|dev)\b|\b[\w-]+\.pkg\.dev\b/

/** Where a file names the place that packages come from: every machine has its own, so the project names none. */
export function addressFaults(path: string, text: string): string[] {
  const name = path.replace(/^.*\//, '')
  const faults: string[] = []
  const download = DOWNLOAD.exec(text)?.[0]
  if (name === 'package-lock.json' && download !== undefined) {
    faults.push(`${path} carries a download address (${download}). Install with omit-lockfile-registry-resolved=true.`)
  }
  if (name === '.npmrc' && REGISTRY_SETTING.test(text)) {
    faults.push(`${path} names a registry. That is a setting of the machine; take the line out.`)
  }
  const host = REGISTRY_HOST.exec(text)?.[0]
  if (host !== undefined) faults.push(`${path} names the registry host ${host}. Take it out.`)
  return faults
}

export interface AddressReport {
  filesRead: number
  faults: string[]
}

/** Reads what is committed or about to be. */
export function checkAddresses(root: URL): AddressReport {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    maxBuffer: GIT_OUTPUT_BYTES_MAX,
  })
  if (listed.status !== 0) return { filesRead: 0, faults: [`git ls-files failed: ${listed.stderr}`] }
  const paths = listed.stdout.split('\0').filter((path) => {
    const at = new URL(path, root)
    return path !== '' && existsSync(at) && statSync(at).size <= FILE_BYTES_MAX && statSync(at).isFile()
  })
  const faults = paths.flatMap((path) => addressFaults(path, readFileSync(new URL(path, root), 'utf8')))
  return { filesRead: paths.length, faults }
}

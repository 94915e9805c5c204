import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endsFile, linesFile } from './shell-work.ts'

/** A box as its host's folder shows it. */
export interface BoxOnDisk {
  readonly root: string
  readonly engineId: string
  /** Null while it waits in the pool. */
  readonly containerId: string | null
}

/** Half-made boxes have no note yet; they count with empty ids. */
export function boxesOf(hostDir: string): BoxOnDisk[] {
  return list(join(hostDir, 'boxes')).map((name) => {
    const root = join(hostDir, 'boxes', name)
    const text = read(join(root, 'box.json'))
    const note = text === '' ? null : (JSON.parse(text) as { engineId: string; order: { containerId: string } | null })
    return { root, engineId: note?.engineId ?? '', containerId: note?.order?.containerId ?? null }
  })
}

/** Commands that have begun and not ended, by what the ledger says. */
export function commandsOpen(hostDir: string): number {
  const names = list(join(hostDir, 'boxes')).flatMap((box) => list(join(hostDir, 'boxes', box, 'commands')))
  const count = (end: string) => names.filter((name) => name.endsWith(end)).length
  return count('.started') - count('.json')
}

/** How often each token was written under /mnt/data of any container: at the beginning, and at the end. */
export function countTokens(hostDirs: readonly string[]): { begun: Map<string, number>; ended: Map<string, number> } {
  const counts = { begun: new Map<string, number>(), ended: new Map<string, number>() }
  const add = (map: Map<string, number>, path: string) => {
    for (const token of read(path).split('\n')) if (token !== '') map.set(token, (map.get(token) ?? 0) + 1)
  }
  for (const { root } of hostDirs.flatMap((dir) => boxesOf(dir))) {
    add(counts.begun, join(root, 'disk', linesFile))
    add(counts.ended, join(root, 'disk', endsFile))
  }
  return counts
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'

/** A tree deeper than this is a loop of links, not a project. */
const DEPTH_MAX = 20

/** Paths, with slashes and relative to `root`, of the files under the given folders, in order. */
export function listTree(root: URL, starts: readonly string[], names: RegExp): string[] {
  const walk = (path: string, depth: number): string[] => {
    if (depth > DEPTH_MAX) throw new Error(`${path} is nested deeper than ${DEPTH_MAX} folders`)
    const at = new URL(path, root)
    if (!existsSync(at)) return []
    if (!statSync(at).isDirectory()) return names.test(path) ? [path] : []
    return readdirSync(at, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules' && !entry.isSymbolicLink())
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => walk(`${path}/${entry.name}`, depth + 1))
  }
  return starts.flatMap((start) => walk(start, 0))
}

/** The same files with their text. */
export function readTree(root: URL, starts: readonly string[], names: RegExp): Map<string, string> {
  return new Map(listTree(root, starts, names).map((path) => [path, readFileSync(new URL(path, root), 'utf8')]))
}

export interface NamedFile {
  readonly id: string
  readonly path: string
}

export interface Mention {
  readonly file: NamedFile
  /** In UTF-16 code units; the end is not included. */
  readonly start: number
  readonly end: number
}

const mentionsMax = 100
const nameChar = /[\p{L}\p{N}_\-/]/u

/** Where a text names one of these files by its full path: the longest that fits, and no part of another path. */
export function mentionsOf(text: string, files: readonly NamedFile[]): Mention[] {
  const found: Mention[] = []
  const longest = files.toSorted((a, b) => b.path.length - a.path.length)
  for (let at = text.indexOf('/mnt/data/'); at >= 0 && found.length < mentionsMax;) {
    const file = longest.find(({ path }) => text.startsWith(path, at) && endsThere(text, at + path.length))
    const end = at + (file?.path.length ?? 1)
    if (file !== undefined) found.push({ file, start: at, end })
    at = text.indexOf('/mnt/data/', end)
  }
  return found
}

/** A dot may end a sentence or go on with a name: `report.csv.` names the file, `report.csv.gz` another one. */
function endsThere(text: string, at: number): boolean {
  const next = text.charAt(at)
  if (next === '' || !nameChar.test(next)) return !(next === '.' && nameChar.test(text.charAt(at + 1)))
  return false
}

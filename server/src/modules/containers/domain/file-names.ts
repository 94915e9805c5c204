import { extname, posix } from 'node:path'

const nameBytesMax = 255
const extensionBytesMax = 32

/** A name for a file under /mnt/data: its last part, without what would lead elsewhere or hide it from a listing. */
export function safeFilename(given: string): string {
  const last = posix.basename(given.replaceAll('\\', '/')).replaceAll(/[\0/]/g, '')
  const name = last === '' || last === '.' || last === '..' ? 'file' : last
  const { stem, extension } = partsOf(name)
  return cutBytes(stem, nameBytesMax - Buffer.byteLength(extension)) + extension
}

/** The name, or one like it that nobody has: `data.csv`, `data-1.csv`, `data-2.csv`. */
export function freeFilename(wanted: string, taken: ReadonlySet<string>): string {
  const name = safeFilename(wanted)
  if (!taken.has(name)) return name
  const { stem, extension } = partsOf(name)
  for (let number = 1; number <= taken.size + 1; number += 1) {
    const other = `${cutBytes(stem, nameBytesMax - Buffer.byteLength(`-${number}${extension}`))}-${number}${extension}`
    if (!taken.has(other)) return other
  }
  throw new Error('one of n + 1 names is free')
}

/** What stands after the last dot is kept when a name is cut, unless it is no extension but a text with a dot. */
function partsOf(name: string): { stem: string; extension: string } {
  const found = extname(name)
  const extension = Buffer.byteLength(found) > extensionBytesMax ? '' : found
  return { stem: name.slice(0, name.length - extension.length), extension }
}

/** File systems count bytes, and a name cut in the middle of a character would not be text any more. */
function cutBytes(name: string, max: number): string {
  let kept = ''
  let bytes = 0
  for (const char of name) {
    bytes += Buffer.byteLength(char)
    if (bytes > max) break
    kept += char
  }
  return kept
}

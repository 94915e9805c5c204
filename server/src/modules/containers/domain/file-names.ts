import { extname, posix } from 'node:path'

const nameBytesMax = 255

/** A name for a file under /mnt/data: its last part, without what would lead elsewhere or hide it from a listing. */
export function safeFilename(given: string): string {
  const last = posix.basename(given.replaceAll('\\', '/')).replaceAll(/[\0/]/g, '')
  const name = last === '' || last === '.' || last === '..' ? 'file' : last
  return cutBytes(name)
}

/** The name, or one like it that nobody has: `data.csv`, `data-1.csv`, `data-2.csv`. */
export function freeFilename(wanted: string, taken: ReadonlySet<string>): string {
  const name = safeFilename(wanted)
  if (!taken.has(name)) return name
  const extension = extname(name)
  const stem = name.slice(0, name.length - extension.length)
  for (let number = 1; number <= taken.size + 1; number += 1) {
    const other = `${cutBytes(stem, nameBytesMax - Buffer.byteLength(`-${number}${extension}`))}-${number}${extension}`
    if (!taken.has(other)) return other
  }
  throw new Error('one of n + 1 names is free')
}

/** File systems count bytes, and a name cut in the middle of a character would not be text any more. */
function cutBytes(name: string, max = nameBytesMax): string {
  if (Buffer.byteLength(name) <= max) return name
  return [...name].reduce((kept, char) => (Buffer.byteLength(kept + char) <= max ? kept + char : kept), '')
}

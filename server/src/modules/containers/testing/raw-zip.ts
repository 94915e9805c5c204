import { crc32, deflateRawSync } from 'node:zlib'

/** An entry of which every header can be made to lie. */
export interface RawEntry {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** Unix mode with its type bits. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  /** What the headers say the content unpacks to. */
  readonly claimedBytes?: number
  /** Bytes of the archive instead of the packed content. */
  readonly packed?: Buffer
  /** Share the local header and data of an earlier entry. */
  readonly sharing?: number
  /** Point so many bytes further than where the local header is. */
  readonly offsetBy?: number
}

const utf8Flag = 0x800
const fromUnix = 0x031e
const deflated = 8

interface Built {
  readonly entry: RawEntry
  readonly name: Buffer
  readonly packed: Buffer
  readonly bytes: number
  readonly crc: number
  readonly offset: number
}

/** A zip written byte by byte, for archives that no honest program writes. */
export function rawZip(entries: readonly RawEntry[], claimedEntries = entries.length): Buffer {
  const chunks: Buffer[] = []
  const built: Built[] = []
  let at = 0
  for (const entry of entries) {
    const shared = entry.sharing === undefined ? undefined : built[entry.sharing]
    const content = Buffer.from(entry.content ?? '')
    const made = shared ?? {
      packed: entry.packed ?? (entry.method === 0 ? content : deflateRawSync(content)),
      bytes: entry.claimedBytes ?? content.length,
      crc: entry.crc ?? crc32(content),
      offset: at,
    }
    const one: Built = { ...made, entry, name: Buffer.from(entry.name) }
    built.push(one)
    if (shared !== undefined) continue
    const local = Buffer.concat([localHeader(one), one.name, one.packed])
    chunks.push(local)
    at += local.length
  }
  const directory = Buffer.concat(built.flatMap((one) => [centralHeader(one), one.name]))
  return Buffer.concat([...chunks, directory, endRecord(claimedEntries, directory.length, at)])
}

function localHeader({ entry, name, packed, bytes, crc }: Built): Buffer {
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  header.writeUInt16LE(entry.flags ?? utf8Flag, 6)
  header.writeUInt16LE(entry.method ?? deflated, 8)
  header.writeUInt32LE(crc, 14)
  header.writeUInt32LE(packed.length, 18)
  header.writeUInt32LE(bytes, 22)
  header.writeUInt16LE(name.length, 26)
  return header
}

function centralHeader({ entry, name, packed, bytes, crc, offset }: Built): Buffer {
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE(fromUnix, 4)
  header.writeUInt16LE(20, 6)
  header.writeUInt16LE(entry.flags ?? utf8Flag, 8)
  header.writeUInt16LE(entry.method ?? deflated, 10)
  header.writeUInt32LE(crc, 16)
  header.writeUInt32LE(packed.length, 20)
  header.writeUInt32LE(bytes, 24)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
  header.writeUInt32LE(offset + (entry.offsetBy ?? 0), 42)
  return header
}

function endRecord(entries: number, directoryBytes: number, directoryAt: number): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(entries, 8)
  record.writeUInt16LE(entries, 10)
  record.writeUInt32LE(directoryBytes, 12)
  record.writeUInt32LE(directoryAt, 16)
  return record
}

import { constants, zstdDecompressSync } from 'node:zlib'

const blockBytes = 32_768
const headerBytes = 7
/** Records of files that are used again carry the number of their file too. */
const recycledHeaderBytes = 11
const types = { full: 1, last: 4, recycledFull: 5, recycledLast: 8, compression: 9, recycledCompression: 10 } as const
const ends = new Set<number>([types.full, types.last, types.recycledFull, types.recycledLast])
const about = new Set<number>([types.compression, types.recycledCompression])

/** The records of a write-ahead log of RocksDB, each unpacked: Restate packs what it writes there with zstd. */
export function unpackWal(file: Buffer): Buffer[] {
  const records: Buffer[] = []
  let parts: Buffer[] = []
  for (let block = 0; block < file.length; block += blockBytes) {
    const end = Math.min(block + blockBytes, file.length)
    let at = block
    while (at + headerBytes <= end) {
      const length = file.readUInt16LE(at + 4)
      const type = file[at + 6] ?? 0
      if (type === 0) break
      const begin = at + (type >= types.recycledFull && type <= types.recycledLast ? recycledHeaderBytes : headerBytes)
      at = begin + length
      if (about.has(type)) continue
      parts.push(file.subarray(begin, at))
      if (!ends.has(type)) continue
      records.push(unpack(Buffer.concat(parts)))
      parts = []
    }
  }
  return records
}

/** What is not packed stays as it is. */
function unpack(record: Buffer): Buffer {
  try {
    // A record is flushed and not ended.
    return zstdDecompressSync(record, { finishFlush: constants.ZSTD_e_flush })
  } catch {
    return record
  }
}

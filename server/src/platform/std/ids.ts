import { randomBytes, randomUUID } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const uuidBytes = 16
const bitsPerChar = 5

/** Crockford base32, lower case: no look-alikes, and the text sorts as the bytes do. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    bits += 8
    while (bits >= bitsPerChar) {
      bits -= bitsPerChar
      text += alphabet[(buffer >>> bits) & 31]
    }
    buffer &= (1 << bits) - 1
  }
  if (bits > 0) text += alphabet[(buffer << (bitsPerChar - bits)) & 31]
  return text
}

const storeBytes = 4_096
let store = Buffer.alloc(0)

/** Random bytes out of a store that is filled in bulk: asking the system for ten at a time measured ten times as slow. */
function storedRandom(size: number): Buffer {
  if (store.length < size) store = randomBytes(storeBytes)
  const taken = store.subarray(0, size)
  store = store.subarray(size)
  return taken
}

/** Bytes of a UUIDv7: 48 bits of milliseconds, then random. */
export function uuidv7(nowMs = Date.now(), random: (size: number) => Buffer = storedRandom): Buffer {
  const bytes = Buffer.alloc(uuidBytes)
  bytes.writeUIntBE(nowMs, 0, 6)
  random(10).copy(bytes, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes
}

/** A new id: it sorts by time and can be looked up in its time partition. */
export function newId<Id extends string = string>(prefix: string, nowMs?: number): Id {
  return (prefix + base32(uuidv7(nowMs))) as Id
}

/** The smallest id of a millisecond: where a span of ids begins. */
export function firstIdAt(prefix: string, ms: number): string {
  return prefix + base32(uuidv7(ms, (size) => Buffer.alloc(size)))
}

/** Milliseconds since the epoch that an id was made at, or null when the text is no id of that prefix. */
export function timeOfId(prefix: string, id: string): number | null {
  const body = id.slice(prefix.length)
  if (!id.startsWith(prefix) || body.length !== 26) return null
  let ms = 0
  // 48 bits are the first nine characters and three bits of the tenth.
  for (let at = 0; at < 10; at += 1) {
    const digit = alphabet.indexOf(body.charAt(at))
    if (digit < 0) return null
    ms = at < 9 ? ms * 32 + digit : ms * 8 + (digit >> 2)
  }
  return ms
}

/** Every request asks for one: random UUIDs come out of a store that Node fills in bulk, ten times as fast as bytes. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`
}

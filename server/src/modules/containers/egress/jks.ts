import { createHash } from 'node:crypto'

const MAGIC = 0xfeedfeed
const VERSION = 2
const TRUSTED_CERTIFICATE = 2
/** What every Java trust store is closed with. It keeps nothing secret: certificates are public. */
const PASSWORD = 'changeit'
/** Part of the format: the digest is salted with this text. */
const SALT = 'Mighty Aphrodite'

/** A Java trust store with the given certificates (DER). Java opens it without being told a password. */
export function writeTrustStore(certificates: readonly Buffer[], createdAt: Date): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32BE(MAGIC, 0)
  head.writeUInt32BE(VERSION, 4)
  head.writeUInt32BE(certificates.length, 8)
  const entries = certificates.flatMap((der, index) => {
    const tag = Buffer.alloc(4)
    tag.writeUInt32BE(TRUSTED_CERTIFICATE)
    const created = Buffer.alloc(8)
    created.writeBigUInt64BE(BigInt(createdAt.getTime()))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(der.length)
    return [tag, counted(`root-${index}`), created, counted('X.509'), length, der]
  })
  const body = Buffer.concat([head, ...entries])
  const password = Buffer.from(PASSWORD, 'utf16le').swap16()
  return Buffer.concat([body, createHash('sha1').update(password).update(SALT).update(body).digest()])
}

function counted(text: string): Buffer {
  const bytes = Buffer.from(text, 'ascii')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

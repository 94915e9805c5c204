import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { assert } from '#platform/std/assert.ts'
import type { SealKey } from './keys.ts'

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
/** Random nonces of this size are safe for 2^32 values of one purpose under one key. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Derived keys that are kept. Reaching this means that an id got into a purpose. */
const DERIVED_MAX = 1_024

/** A sealed value or digest that cannot be used: damaged, made for another context, or with a key that is gone. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
  readonly reason: 'malformed' | 'unknown_key' | 'not_authentic'

  constructor(reason: SealBroken['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Seals values with the deployment's keys. A context is `purpose` or `purpose:id`, such as `webhooks.secret:we_123`: each
 * purpose has keys of its own, and a value opens only under the whole context it was sealed for, so that one copied into
 * another row is worthless there.
 */
export type Sealer = {
  seal(plain: string | Uint8Array, context: string): string
  /** Throws SealBroken. */
  open(sealed: string, context: string): Buffer
  /** The id of the key that a sealed value or digest was made with. */
  keyIdOf(sealed: string): string
  /** Whether a value was sealed with another key than the one that seals now. */
  needsReseal(sealed: string): boolean
  /** A keyed fingerprint of bytes, to compare with later what must not be stored. */
  digest(context: string, bytes: string | Uint8Array): string
  /** Whether the bytes are those of the digest, whichever key made it. Throws SealBroken when that key is gone. */
  digestMatches(digest: string, context: string, bytes: string | Uint8Array): boolean
}

/** The first key seals and digests; all of them open and compare. */
export function createSealer({ keys }: { keys: readonly SealKey[] }): Sealer {
  const keyFor = keyDeriver(keys)
  const current = keys[0]?.id
  assert(current !== undefined, 'a sealer needs a key')

  const seal: Sealer['seal'] = (plain, context) => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, keyFor('seal', current, context), nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(bound(current, context))
    return write(current, [nonce, cipher.update(bytesOf(plain)), cipher.final(), cipher.getAuthTag()])
  }

  const open: Sealer['open'] = (sealed, context) => {
    const { keyId, body } = read(sealed)
    if (body.length < NONCE_BYTES + TAG_BYTES) throw new SealBroken('malformed', 'The sealed value is too short.')
    const key = keyFor('seal', keyId, context)
    const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(bound(keyId, context))
    decipher.setAuthTag(body.subarray(-TAG_BYTES))
    const plain = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES))
    try {
      return Buffer.concat([plain, decipher.final()])
    } catch {
      throw new SealBroken('not_authentic', 'The sealed value is damaged or was sealed for something else.')
    }
  }

  const digestWith = (keyId: string, context: string, bytes: string | Uint8Array): Buffer =>
    createHmac('sha256', keyFor('digest', keyId, context))
      .update(bound(keyId, context))
      .update(bytes)
      .digest()

  return {
    seal,
    open,
    keyIdOf: (sealed) => read(sealed).keyId,
    needsReseal: (sealed) => read(sealed).keyId !== current,
    digest: (context, bytes) => write(current, [digestWith(current, context, bytes)]),
    digestMatches: (digest, context, bytes) => {
      const { keyId, body } = read(digest)
      const expected = digestWith(keyId, context, bytes)
      return body.length === expected.length && timingSafeEqual(body, expected)
    },
  }
}

/** A key for one use and purpose of one of the deployment's keys, which itself never touches data. */
function keyDeriver(keys: readonly SealKey[]) {
  const masters = new Map(keys.map(({ id, key }) => [id, key]))
  for (const key of masters.values()) assert(key.length === KEY_BYTES, `a key has ${KEY_BYTES} bytes`)
  const derived = new Map<string, Buffer>()
  return (use: 'seal' | 'digest', keyId: string, context: string): Buffer => {
    const colon = context.indexOf(':')
    const purpose = colon < 0 ? context : context.slice(0, colon)
    const name = `${use} ${keyId} ${purpose}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const master = masters.get(keyId)
    if (master === undefined)
      throw new SealBroken('unknown_key', `The key "${keyId}" is not among the deployment's keys.`)
    assert(derived.size < DERIVED_MAX, 'the part of a context before ":" is a purpose, not an id')
    const key = Buffer.from(hkdfSync('sha256', master, '', `switchyard ${VERSION} ${use} ${purpose}`, KEY_BYTES))
    derived.set(name, key)
    return key
  }
}

/** What a value is bound to. Key ids hold no NUL, so no two pairs give the same bytes followed by data. */
function bound(keyId: string, context: string): Buffer {
  assert(!context.includes('\0'), 'a context holds no NUL')
  return Buffer.from(`${VERSION}\0${keyId}\0${context}\0`)
}

function write(keyId: string, parts: readonly Uint8Array[]): string {
  return `${VERSION}.${keyId}.${Buffer.concat(parts).toString('base64url')}`
}

function read(text: string): { keyId: string; body: Buffer } {
  const [, keyId, encoded] = /^v1\.([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]*)$/.exec(text) ?? []
  if (keyId === undefined || encoded === undefined) throw new SealBroken('malformed', 'This is not a sealed value.')
  return { keyId, body: Buffer.from(encoded, 'base64url') }
}

function bytesOf(plain: string | Uint8Array): Uint8Array {
  return typeof plain === 'string' ? Buffer.from(plain) : plain
}

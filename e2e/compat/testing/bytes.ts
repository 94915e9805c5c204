import { createCipheriv, createHash } from 'node:crypto'

const CHUNK_BYTES = 64 * 1024

/** Bytes that look random, are the same for the same seed, and are never held in one piece. */
export function* seededBytes(seed: number, total: number): Generator<Buffer> {
  const key = createHash('md5').update(`seed ${seed}`).digest()
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16))
  const zeros = Buffer.alloc(CHUNK_BYTES)
  for (let left = total; left > 0; left -= CHUNK_BYTES)
    yield cipher.update(zeros.subarray(0, Math.min(left, CHUNK_BYTES)))
}

export interface Digests {
  readonly md5: string
  readonly sha256: string
}

/** The digests of several pieces one after the other. */
export async function digestsOf(
  ...pieces: readonly (Iterable<Uint8Array> | AsyncIterable<Uint8Array>)[]
): Promise<Digests> {
  const md5 = createHash('md5')
  const sha256 = createHash('sha256')
  for (const piece of pieces) {
    for await (const chunk of piece) {
      md5.update(chunk)
      sha256.update(chunk)
    }
  }
  return { md5: md5.digest('hex'), sha256: sha256.digest('hex') }
}

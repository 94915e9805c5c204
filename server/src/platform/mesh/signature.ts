import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Clocks of two processes may differ by this much, and a message may be on its way for as long. */
export const signatureAgeMs = 30_000
const keyBytes = 32
const maxSeen = 100_000

export interface Signed {
  readonly time: number
  readonly nonce: string
  readonly signature: string
}

/** The mesh has keys of its own, made out of the deployment's: one less secret to hand out. */
export function meshKey(sealKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', sealKey, Buffer.alloc(0), 'switchyard mesh', keyBytes))
}

export function sign(key: Buffer, command: string, input: Buffer, time: number, nonce: string): string {
  const digest = createHash('sha256').update(input).digest('hex')
  return createHmac('sha256', key).update([command, time, nonce, digest].join('\n')).digest('hex')
}

/** Knows every message of the last minute, so that none is carried out twice because someone sent it again. */
export class SignatureCheck {
  readonly #keys: readonly Buffer[]
  readonly #now: () => number
  #seen = new Set<string>()
  #before = new Set<string>()
  #turnedAt = 0

  constructor(keys: readonly Buffer[], now: () => number = Date.now) {
    this.#keys = keys
    this.#now = now
  }

  accepts(command: string, input: Buffer, { time, nonce, signature }: Signed): boolean {
    const now = this.#now()
    if (!Number.isFinite(time) || Math.abs(now - time) > signatureAgeMs || nonce.length > 64) return false
    const given = Buffer.from(signature)
    const right = this.#keys.some((key) => {
      const expected = Buffer.from(sign(key, command, input, time, nonce))
      return expected.length === given.length && timingSafeEqual(expected, given)
    })
    if (!right) return false
    // Two sets that take turns: what is older than both spans could not pass the check of time any more.
    if (now - this.#turnedAt > 2 * signatureAgeMs || this.#seen.size >= maxSeen) {
      this.#before = this.#seen
      this.#seen = new Set()
      this.#turnedAt = now
    }
    if (this.#seen.has(nonce) || this.#before.has(nonce)) return false
    this.#seen.add(nonce)
    return true
  }
}

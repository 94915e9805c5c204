import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const KEY_BYTES = 32

/**
 * The key with which Restate signs its requests, made on first use. Returns the public part in the form that services
 * are given: they then refuse requests of anybody else.
 */
export function keepIdentity(pemFile: string): string {
  if (!existsSync(pemFile)) {
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(pemFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  const spki = createPublicKey(readFileSync(pemFile, 'utf8')).export({ type: 'spki', format: 'der' })
  return `publickeyv1_${base58(spki.subarray(-KEY_BYTES))}`
}

/** Base58 with the alphabet of Bitcoin: a leading zero byte is a leading 1. */
export function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
  let digits = ''
  while (rest > 0n) {
    digits = `${BASE58.charAt(Number(rest % 58n))}${digits}`
    rest /= 58n
  }
  const firstNonZero = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(firstNonZero < 0 ? bytes.length : firstNonZero) + digits
}

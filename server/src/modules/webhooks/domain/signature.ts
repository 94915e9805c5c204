import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32
const hintLength = 4

export function newSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

export function secretHint(secret: string): string {
  return `${prefix}…${secret.slice(-hintLength)}`
}

/** What signs. Made once for many signatures: with the bytes themselves each of them measured six times the cost. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'))
}

/** Standard Webhooks: every active secret signs the id, the time and the very bytes of the body. */
export function signatureOf(keys: readonly KeyObject[], webhookId: string, timestamp: number, body: string): string {
  const message = `${webhookId}.${timestamp}.${body}`
  return keys.map((key) => `v1,${createHmac('sha256', key).update(message).digest('base64')}`).join(' ')
}

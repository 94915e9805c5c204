/** One of the deployment's keys. `id` is written beside everything that the key sealed. */
export type SealKey = { id: string; key: Buffer }

const KEY_BYTES = 32
const KEYS_MAX = 16
const ID = /^[A-Za-z0-9_-]{1,32}$/
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const HOW = 'Make one with: echo "key1:$(openssl rand -base64 32)"'

/** A list of keys that cannot be used. Says which entry and why, and never shows a key. */
export class SealKeysInvalid extends Error {
  override readonly name = 'SealKeysInvalid'
}

/** Reads `id:base64,id2:base64`: the first key seals, all of them open. Throws SealKeysInvalid. */
export function parseSealKeys(text: string): SealKey[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) throw new SealKeysInvalid(`There is no key. ${HOW}`)
  if (entries.length > KEYS_MAX)
    throw new SealKeysInvalid(`There are ${entries.length} keys; at most ${KEYS_MAX} are allowed.`)
  const keys = entries.map((entry, index) => parseKey(entry, index + 1))
  const ids = new Set(keys.map(({ id }) => id))
  const twice = keys.find(({ id }) => !ids.delete(id))
  if (twice !== undefined) throw new SealKeysInvalid(`The id "${twice.id}" is used twice.`)
  return keys
}

function parseKey(entry: string, place: number): SealKey {
  const colon = entry.indexOf(':')
  if (colon < 0) throw new SealKeysInvalid(`Key ${place} has no id; write it as id:base64. ${HOW}`)
  const id = entry.slice(0, colon)
  const encoded = entry.slice(colon + 1).trim()
  if (!ID.test(id)) throw new SealKeysInvalid(`The id of key ${place} must be 1 to 32 letters, digits, "_" or "-".`)
  if (!BASE64.test(encoded)) throw new SealKeysInvalid(`Key ${place} ("${id}") is not base64.`)
  const key = Buffer.from(encoded, 'base64')
  if (key.length !== KEY_BYTES) {
    throw new SealKeysInvalid(`Key ${place} ("${id}") has ${key.length} bytes; it must have ${KEY_BYTES}. ${HOW}`)
  }
  return { id, key }
}

import { hash, randomBytes } from 'node:crypto'
import { base32 } from '#platform/std/ids.ts'

export type KeyKind = 'project' | 'service_account' | 'admin' | 'ads'

/** The prefix says what a key opens, before anything is looked up. */
export const keyPrefixes: Readonly<Record<KeyKind, string>> = {
  project: 'sk-proj-',
  service_account: 'sk-svcacct-',
  admin: 'sk-admin-',
  ads: 'adsk_',
}

const secretBytes = 32
const checksumChars = 6
/** As many as make the characters of the checksum. */
const checksumBytes = 4
const shownChars = 4
const keyPattern =
  /^(?:sk-proj-|sk-svcacct-|sk-admin-|adsk_)[a-z0-9]{1,8}_[0-9a-hjkmnp-tv-z]{52}_[0-9a-hjkmnp-tv-z]{6}$/

export const cellTagPattern = /^[a-z0-9]{1,8}$/

export interface MintedKey {
  /** Shown once, kept by nobody here. */
  readonly value: string
  readonly hash: Buffer
  /** What people see from then on: the prefix and the last four characters, which belong to the checksum. */
  readonly redacted: string
}

function checksum(text: string): string {
  const digest = hash('sha256', `switchyard key checksum:${text}`, 'buffer')
  return base32(digest.subarray(0, checksumBytes)).slice(0, checksumChars)
}

/** `sk-proj-<cell tag>_<32 random bytes>_<checksum>`. */
export function mintKeyText(kind: KeyKind, cellTag: string, random: (size: number) => Buffer = randomBytes): MintedKey {
  const body = `${keyPrefixes[kind]}${cellTag}_${base32(random(secretBytes))}`
  const value = `${body}_${checksum(body)}`
  return { value, hash: hashKeyText(value), redacted: `${keyPrefixes[kind]}...${value.slice(-shownChars)}` }
}

/** False for what no cell ever minted, a mistyped key above all: it is refused without a lookup. */
export function isKeyText(token: string): boolean {
  if (!keyPattern.test(token)) return false
  const cut = token.length - checksumChars
  return checksum(token.slice(0, cut - 1)) === token.slice(cut)
}

/** 256 random bits need no salt and no slow hash. */
export function hashKeyText(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

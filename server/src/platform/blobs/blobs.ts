import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { assert } from '#platform/std/assert.ts'

/** Both ends are included. An end past the last byte means the last byte. */
export type BlobRange = { start: number; end: number }

export type BlobEntry = { name: string; bytes: number; modifiedAt: Date }

/**
 * Bytes under names that `newBlobName` made. A blob is there whole or not at all: it appears when `put` returns, and a put
 * that fails, is aborted or is killed leaves nothing that `read` or `list` would show.
 */
export interface Blobs {
  /** Takes the source to its end, with a bounded amount in memory. Throws BlobTooLarge past `bytesMax`. */
  put(
    name: string,
    source: AsyncIterable<Uint8Array>,
    limits: { bytesMax: number; signal?: AbortSignal },
  ): Promise<{ bytes: number; sha256: string }>
  /** Throws BlobMissing, or BlobRangeInvalid when the range starts past the last byte. */
  read(name: string, range?: BlobRange): Promise<Readable>
  /** Whether there was one. */
  remove(name: string): Promise<boolean>
  /** Everything under a prefix (`files`) or one of its folders (`files/3f9`), in the order of names. */
  list(prefix: string): AsyncIterable<BlobEntry>
  /** Clears away what killed puts left behind and is older than this; returns how many. */
  removeUnfinished(olderThanMs: number): Promise<number>
  /** Throws when blobs cannot be stored now. */
  check(): Promise<void>
  close(): Promise<void>
}

export class BlobMissing extends Error {
  override readonly name = 'BlobMissing'
  readonly blob: string

  constructor(blob: string, options?: { cause?: unknown }) {
    super('There is no such blob.', options)
    this.blob = blob
  }
}

export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
  readonly bytesMax: number

  constructor(bytesMax: number) {
    super(`The blob is larger than ${bytesMax} bytes.`)
    this.bytesMax = bytesMax
  }
}

export class BlobRangeInvalid extends Error {
  override readonly name = 'BlobRangeInvalid'
}

const RANDOM_BYTES = 16
/** 4,096 folders to a prefix: at ten million blobs, some 2,400 files in each. */
const FOLDER_CHARS = 3

const PREFIX = /^[a-z][a-z0-9-]{0,31}$/
const FOLDER = /^[a-z][a-z0-9-]{0,31}(?:\/[0-9a-f]{3})?$/
const NAME = /^[a-z][a-z0-9-]{0,31}\/[0-9a-f]{3}\/[0-9a-f]{29}$/

/** A name that nobody has used: `files/3f9/` and 29 more hexadecimal digits. */
export function newBlobName(prefix: string): string {
  assert(PREFIX.test(prefix), 'a blob prefix is a short lower-case word')
  const random = randomBytes(RANDOM_BYTES).toString('hex')
  return `${prefix}/${random.slice(0, FOLDER_CHARS)}/${random.slice(FOLDER_CHARS)}`
}

export function isBlobName(text: string): boolean {
  return NAME.test(text)
}

/** Names come from our own rows; one of another form is a bug, and must not become a path. */
export function assertBlobName(name: string): void {
  assert(isBlobName(name), 'not a blob name')
}

/** A prefix, or one of its folders. */
export function isBlobPrefix(text: string): boolean {
  return FOLDER.test(text)
}

export function assertBlobPrefix(prefix: string): void {
  assert(isBlobPrefix(prefix), 'not a blob prefix')
}

export function assertBlobRange(range: BlobRange | undefined): void {
  if (range === undefined) return
  const { start, end } = range
  assert(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start, 'not a byte range')
}

import type { IncomingMessage } from 'node:http'
import { PassThrough, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { MaskStream, maskText, type Masked } from './masking.ts'
import { pairs } from './request-headers.ts'

const HOP_BY_HOP: ReadonlySet<string> = new Set(
  'connection proxy-connection keep-alive proxy-authenticate trailer transfer-encoding upgrade'.split(' '),
)

/** Untrue once the body was looked through, or untrue from the start because ranges are not asked for. */
const UNTRUE_WHEN_MASKED: ReadonlySet<string> = new Set('content-length content-encoding accept-ranges'.split(' '))

/** The headers of a reply as the container may see them. */
export function replyHeaders(
  reply: IncomingMessage,
  masked: readonly Masked[],
  keep: readonly string[] = [],
): string[] {
  return pairs(reply.rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) && !keep.includes(lower)) return []
    if (masked.length === 0) return [name, value]
    if (UNTRUE_WHEN_MASKED.has(lower)) return []
    // A name cannot hold a placeholder; one that holds a value is not shown at all.
    return maskText(name, masked) === name ? [name, maskText(value, masked)] : []
  })
}

/** The streams a body goes through, or null when it is packed in a way that cannot be looked into. */
export function bodyStreams(reply: IncomingMessage, masked: readonly Masked[]): Transform[] | null {
  if (masked.length === 0) return [new PassThrough()]
  const coding = (reply.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity' || coding === '') return [new MaskStream(masked)]
  const unpack = unpacker(coding)
  return unpack === null ? null : [unpack, new MaskStream(masked)]
}

/** The host was asked for a plain body; some send packed ones all the same. */
function unpacker(coding: string): Transform | null {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    default:
      return null
  }
}

import { assert } from './assert.ts'

/** Both ends are included, as in the headers. */
export interface ByteRange {
  start: number
  end: number
}

const SINGLE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Reads a Range header (RFC 9110, 14.1.2) for a body of the given size. Null means: answer with the whole body, which the
 * RFC allows for what is malformed, in another unit, or more than one range.
 */
export function parseByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  assert(Number.isSafeInteger(size) && size >= 0, 'a size is a whole number of bytes')
  const found = SINGLE_RANGE.exec(header ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return null
  // More digits than a number holds still compare correctly with a size, so nothing needs to be exact here.
  const from = Number(first)
  const to = Number(last)
  if (first === '') return suffixRange(to, size)
  if (last !== '' && to < from) return null
  if (from >= size) return 'unsatisfiable'
  return { start: from, end: last === '' ? size - 1 : Math.min(to, size - 1) }
}

function suffixRange(length: number, size: number): ByteRange | 'unsatisfiable' | null {
  if (length === 0) return 'unsatisfiable'
  // The last bytes of an empty body are the whole body, and no Content-Range can say so.
  if (size === 0) return null
  return { start: Math.max(0, size - length), end: size - 1 }
}

export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes'
  readonly bytesMax: number

  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes`)
    this.bytesMax = bytesMax
  }
}

/** Reads a stream to its end into memory. Past the bound it lets go of the stream and throws TooManyBytes. */
export async function boundedBuffer(stream: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new TooManyBytes(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes)
}

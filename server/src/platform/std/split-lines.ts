/** A line of a file, by where it lies. */
export interface RawLine {
  /** Counted from 1, blank ones too. */
  readonly n: number
  readonly offset: number
  /** Without the line feed. */
  readonly bytes: number
  /** Null when it is longer than the bound; then none of it was kept. */
  readonly content: Buffer | null
}

const lineFeed = 0x0a

/** Cuts a stream into lines, with at most one line and one chunk of the stream in memory. */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<RawLine, void, void> {
  let n = 1
  let offset = 0
  let bytes = 0
  let parts: Buffer[] = []
  const take = (part: Buffer) => {
    bytes += part.length
    if (bytes <= lineBytesMax) parts.push(part)
    else parts = []
  }
  const line = (): RawLine => ({ n, offset, bytes, content: bytes <= lineBytesMax ? Buffer.concat(parts) : null })
  for await (const chunk of source) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let end = buffer.indexOf(lineFeed); end >= 0; end = buffer.indexOf(lineFeed, from)) {
      take(buffer.subarray(from, end))
      yield line()
      offset += bytes + 1
      n += 1
      bytes = 0
      parts = []
      from = end + 1
    }
    // Copied: the stream may use its buffer again.
    if (from < buffer.length) take(Buffer.from(buffer.subarray(from)))
  }
  if (bytes > 0) yield line()
}

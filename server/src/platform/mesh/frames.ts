import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const lengthBytes = 4
/** Inputs hold names, commands and secrets; what is large goes as bytes. */
export const jsonBytesMax = 16 * 1024 * 1024

/** A value in front of whatever follows it. */
export function frame(json: string): Buffer {
  const text = Buffer.from(json)
  const head = Buffer.alloc(lengthBytes)
  head.writeUInt32BE(text.length)
  return Buffer.concat([head, text])
}

/** Takes the value off a stream and leaves the rest in it. Throws when it is too long or does not come whole. */
export async function readFrame(stream: Readable): Promise<Buffer> {
  const length = (await take(stream, lengthBytes)).readUInt32BE()
  if (length > jsonBytesMax) throw new Error(`a frame of ${length} bytes is longer than allowed`)
  return length === 0 ? Buffer.alloc(0) : await take(stream, length)
}

async function take(stream: Readable, size: number): Promise<Buffer> {
  for (;;) {
    const chunk = stream.read(size) as Buffer | null
    if (chunk !== null) {
      if (chunk.length === size) return chunk
      throw new Error('the stream ended in the middle of a frame')
    }
    if (stream.readableEnded || stream.destroyed) throw new Error('the stream ended before its frame')
    await Promise.race([once(stream, 'readable'), once(stream, 'end'), once(stream, 'close')])
  }
}

/** Values, one a line. */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.write(chunk)
    if (rest.length > 2 * jsonBytesMax) throw new Error('a line is longer than allowed')
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown
  }
}

export async function* writeLines(events: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`
}

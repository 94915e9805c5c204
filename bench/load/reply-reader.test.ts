import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReplyReader } from './reply-reader.ts'

const sized = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\nnull'
const stream = 'data: {"a":1}\n\nevent: b\ndata: 2\n\ndata: [DONE]\n\n'

function chunked(text: string, size: number): string {
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
}

test('the load generator counts the events of a reply however it is cut into pieces', () => {
  const wire = Buffer.from(chunked(stream, 7) + sized)
  for (let size = 1; size < wire.length; size += 1) {
    const reader = new ReplyReader()
    const ends: number[] = []
    // Replies never share a piece: the next request is sent only when the reply is there.
    const first = wire.length - Buffer.byteLength(sized)
    for (const [from, to] of [
      [0, first],
      [first, wire.length],
    ] as const) {
      for (let at = from; at < to; at += size) {
        if (reader.push(wire.subarray(at, Math.min(to, at + size)))) ends.push(Math.min(to, at + size))
      }
    }
    assert.deepEqual(
      { ends, events: reader.events, status: reader.status },
      { ends: [first, wire.length], events: 3, status: 200 },
    )
  }
})

test('the load generator refuses bytes that belong to no reply', () => {
  assert.throws(() => new ReplyReader().push(Buffer.from(`${sized}x`)), /more bytes/)
})

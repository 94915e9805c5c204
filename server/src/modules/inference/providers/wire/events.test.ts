import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EventReader } from './events.ts'
import { eventCharsMax } from './limits.ts'

function read(chunks: readonly Buffer[]): string[] {
  const reader = new EventReader()
  const events: string[] = []
  for (const chunk of chunks) reader.push(chunk, events)
  reader.end(events)
  return events
}

/** Cuts bytes at the given places, through characters as well. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b)
  return sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end))
}

test('events are the same however the network cuts them, with LF or CRLF, comments and names between them', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ' '))
  const event = fc.array(line, { minLength: 1, maxLength: 3 })
  const events = fc.array(event, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(events, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (given, places, crlf) => {
      const end = crlf ? '\r\n' : '\n'
      const text = given
        .map((lines) => `: hello${end}event: x${end}${lines.map((one) => `data: ${one}${end}`).join('')}${end}`)
        .join('')
      assert.deepEqual(
        read(cutAt(Buffer.from(text), places)),
        given.map((lines) => lines.join('\n')),
      )
    }),
  )
})

test('a last event without its blank line still counts, and data needs no space', () => {
  assert.deepEqual(read([Buffer.from('data:{"a":1}\n\ndata: [DONE]')]), ['{"a":1}', '[DONE]'])
})

test('an event that never ends is given up at its bound', () => {
  const reader = new EventReader()
  const piece = Buffer.alloc(1024 * 1024, 'x')
  assert.throws(
    () => {
      for (let bytes = 0; bytes <= eventCharsMax; bytes += piece.length) reader.push(piece, [])
    },
    { name: 'ProviderFault', kind: 'malformed' },
  )
})

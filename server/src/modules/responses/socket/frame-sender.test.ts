import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SocketEvent } from '@switchyard/contracts/responses/socket.ts'
import { FrameSender, unsentBytesMax, unsentBytesSoft } from './frame-sender.ts'

const event = { type: 'error', status: 400 } as SocketEvent

/** A client whose reading is decided here. */
class Wire {
  readonly OPEN = 1
  readyState: 0 | 1 | 2 | 3 = 1
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly #written: (() => void)[] = []

  send = ((text: string, written: () => void) => {
    this.sent.push(text)
    this.#written.push(written)
  }) as never

  /** The client has read the oldest frame; this much is left. */
  read(left: number): void {
    this.bufferedAmount = left
    this.#written.shift()?.()
  }
}

function senderOf(stallMs: number): { wire: Wire; sender: FrameSender; stalls: () => number } {
  const wire = new Wire()
  let stalls = 0
  const sender = new FrameSender(wire, { stallMs, onStalled: () => (stalls += 1) })
  return { wire, sender, stalls: () => stalls }
}

test('a reader that keeps up is never waited for', async () => {
  const { wire, sender } = senderOf(60_000)
  sender.send(event)
  assert.deepEqual(wire.sent, [JSON.stringify(event)])
  assert.equal(await sender.ready(), true)
})

test('a slow reader is waited for until it has read on', async () => {
  const { wire, sender, stalls } = senderOf(60_000)
  sender.send(event)
  sender.send(event)
  wire.bufferedAmount = unsentBytesSoft + 1
  let ready = 0
  const waits = [sender.ready(), sender.ready()].map((wait) => wait.then((read) => (ready += Number(read))))
  wire.read(unsentBytesSoft + 1)
  await Promise.resolve()
  assert.equal(ready, 0)
  wire.read(0)
  await Promise.all(waits)
  assert.deepEqual([ready, stalls()], [2, 0])
})

test('a reader that reads nothing is given up', async () => {
  const { wire, sender, stalls } = senderOf(20)
  wire.bufferedAmount = unsentBytesSoft + 1
  assert.equal(await sender.ready(), false)
  assert.equal(stalls(), 1)
})

test('a reader that reads a little every time is not', async () => {
  const { wire, sender, stalls } = senderOf(60_000)
  for (let count = 0; count < 3; count += 1) sender.send(event)
  wire.bufferedAmount = unsentBytesSoft + 1
  const ready = sender.ready()
  wire.read(unsentBytesSoft + 1)
  wire.read(unsentBytesSoft + 1)
  wire.read(1)
  assert.equal(await ready, true)
  assert.equal(stalls(), 0)
})

test('a client that is owed too much is given up at once', () => {
  const { wire, sender, stalls } = senderOf(60_000)
  wire.bufferedAmount = unsentBytesMax + 1
  sender.send(event)
  assert.equal(stalls(), 1)
})

test('nobody waits for a client that is gone, and nothing is sent to it', async () => {
  const { wire, sender, stalls } = senderOf(60_000)
  wire.bufferedAmount = unsentBytesSoft + 1
  const ready = sender.ready()
  sender.end()
  assert.equal(await ready, false)
  wire.readyState = 3
  assert.equal(await sender.ready(), false)
  sender.send(event)
  assert.deepEqual([wire.sent.length, stalls()], [0, 0])
})

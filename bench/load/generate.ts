/**
 * For each load it is sent: GET requests over a fixed number of kept connections, one in flight on each, and back what
 * came of it. On bare sockets, because on a machine of two cores every cycle spent here is taken from the server that
 * is measured.
 */
import { connect, type Socket } from 'node:net'
import type { Load, LoadResult } from './load.ts'

/** More than any machine answers in the longest run; a run that gets here ends. */
const roomRequests = 5_000_000
const headEnd = Buffer.from('\r\n\r\n')
const silentMsMax = 10_000

class Tally {
  readonly latenciesMs: Float64Array
  readonly requestsMax: number
  requests = 0
  failures = 0

  constructor(room: Float64Array, requestsMax: number) {
    this.latenciesMs = room
    this.requestsMax = requestsMax
  }

  get full(): boolean {
    return this.requests >= this.requestsMax
  }

  note(ms: number, ok: boolean): void {
    if (this.full) return
    this.latenciesMs[this.requests] = ms
    this.requests += 1
    if (!ok) this.failures += 1
  }
}

/** The reply's status once all of it is there, null before; more than one reply is a fault of ours. */
function readReply(bytes: Buffer): number | null {
  const end = bytes.indexOf(headEnd)
  if (end === -1) return null
  const head = bytes.toString('latin1', 0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`a reply without content-length:\n${head}`)
  const whole = end + headEnd.length + Number(length)
  if (bytes.length > whole) throw new Error('more bytes than one reply has')
  return bytes.length === whole ? Number(head.slice(9, 12)) : null
}

async function keepAsking(socket: Socket, requests: readonly Buffer[], untilMs: number, tally: Tally): Promise<void> {
  let sentAt = 0
  let pending: Buffer | null = null
  const ask = () => {
    const request = requests[Math.floor(Math.random() * requests.length)]
    if (request === undefined) throw new Error('no request to send')
    sentAt = performance.now()
    socket.write(request)
  }
  await new Promise<void>((resolve, reject) => {
    socket.setTimeout(silentMsMax, () => reject(new Error(`no reply within ${silentMsMax} ms`)))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk) => {
      pending = pending === null ? chunk : Buffer.concat([pending, chunk])
      const status = readReply(pending)
      if (status === null) return
      pending = null
      const now = performance.now()
      tally.note(now - sentAt, status === 200)
      if (now < untilMs && !tally.full) ask()
      else resolve()
    })
    ask()
  })
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return socket
}

function summarise(tally: Tally, seconds: number): LoadResult {
  const sorted = tally.latenciesMs.subarray(0, tally.requests).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    requests: tally.requests,
    failures: tally.failures,
    perSecond: tally.requests / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

async function carry(load: Load, room: Float64Array): Promise<LoadResult> {
  const requests = load.paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${load.port}\r\nauthorization: Bearer ${load.key}\r\n\r\n`),
  )
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)))
  const tally = new Tally(room, Math.min(load.requestsMax ?? room.length, room.length))
  const began = performance.now()
  await Promise.all(sockets.map((socket) => keepAsking(socket, requests, began + load.seconds * 1_000, tally)))
  const seconds = (performance.now() - began) / 1_000
  for (const socket of sockets) socket.removeAllListeners('close').destroy()
  return summarise(tally, seconds)
}

function main(): void {
  const room = new Float64Array(roomRequests)
  process.on('message', (load) => {
    void carry(load as Load, room).then((result) => process.send?.(result))
  })
  // The bench has ended, however it did.
  process.once('disconnect', () => process.exit())
}

main()

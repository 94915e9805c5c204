/**
 * For each load it is sent: requests over a fixed number of kept connections, one in flight on each, and back what came
 * of it. On bare sockets, because on a machine of two cores every cycle spent here is taken from the server that
 * is measured.
 */
import { connect, type Socket } from 'node:net'
import type { Load, LoadResult } from './load.ts'
import { ReplyReader } from './reply-reader.ts'

/** More than any machine answers in the longest run; a run that gets here ends. */
const roomRequests = 5_000_000
const silentMsMax = 60_000

class Tally {
  readonly latenciesMs: Float64Array
  readonly requestsMax: number
  requests = 0
  failures = 0
  events = 0

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

async function keepAsking(socket: Socket, requests: readonly Buffer[], untilMs: number, tally: Tally): Promise<void> {
  let sentAt = 0
  const reader = new ReplyReader()
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
      if (!reader.push(chunk)) return
      const now = performance.now()
      tally.note(now - sentAt, reader.status === 200)
      if (now < untilMs && !tally.full) ask()
      else resolve()
    })
    ask()
  })
  tally.events += reader.events
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
    events: tally.events,
  }
}

function requestOf({ port, key, body, headers = {} }: Load, path: string): Buffer {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}

async function carry(load: Load, room: Float64Array): Promise<LoadResult> {
  const requests = load.paths.map((path) => requestOf(load, path))
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

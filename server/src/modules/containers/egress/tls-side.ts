import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { DialFailed } from './dial.ts'
import { HELLO_BYTES_MAX, readHello, tlsAlert, type Hello } from './hello.ts'
import { looksLikeAddress, readHostName } from './host-name.ts'
import type { HttpSide } from './http-side.ts'
import type { Passage } from './passage.ts'
import { readFirst } from './read-first.ts'
import type { Reason } from './reasons.ts'
import { splice } from './splice.ts'
import type { Visit } from './visit.ts'

export const HELLO_TIMEOUT_MS = 10_000
const HELLO_SEGMENT_MAX = 65_536

/** Takes a connection that must begin with TLS. `expected` is the host of the CONNECT that opened it, if one did. */
export async function enterTls(
  use: { passage: Passage; http: HttpSide },
  visit: Visit,
  socket: Socket,
  expected: string | null,
): Promise<void> {
  const { passage } = use
  const hello = await helloOf(socket)
  const host = hello.kind === 'hello' ? readHostName(hello.serverName) : null
  visit.host = host ?? expected ?? ''
  const refusal = refusalOf(hello, host) ?? (host === null ? 'name_malformed' : null)
  if (refusal !== null || host === null) return refuse(passage, visit, socket, refusal ?? 'name_malformed')
  if (expected !== null && host !== expected) return refuse(passage, visit, socket, 'host_mismatch')
  const notAllowed = passage.refusalFor(host, visit.port)
  if (notAllowed !== null) return refuse(passage, visit, socket, notAllowed)
  if (passage.secrets().some(({ domain }) => domain === host)) return await terminate(use, visit, socket, host)
  try {
    const outer = await passage.dial(host, visit.port, false)
    visit.holds(outer)
    splice(passage, visit, socket, outer)
  } catch (error) {
    fail(passage, visit, socket, error instanceof DialFailed ? error.reason : 'connect_failed')
  }
}

async function helloOf(socket: Socket): Promise<Hello | { kind: 'gone'; reason: Reason }> {
  const first = await readFirst(
    socket,
    (bytes) => {
      const hello = readHello(bytes)
      return hello.kind === 'more' ? null : { value: hello, used: 0 }
    },
    { bytesMax: HELLO_BYTES_MAX + HELLO_SEGMENT_MAX, timeoutMs: HELLO_TIMEOUT_MS },
  )
  if ('found' in first) return first.found
  return { kind: 'gone', reason: first.failed === 'timeout' ? 'timed_out' : 'hello_malformed' }
}

function refusalOf(hello: Hello | { kind: 'gone'; reason: Reason }, host: string | null): Reason | null {
  if (hello.kind === 'gone' || hello.kind === 'refused') return hello.reason
  if (hello.kind === 'more') return 'hello_malformed'
  return host === null && looksLikeAddress(hello.serverName) ? 'name_is_address' : null
}

/** Ends TLS here: the host has a secret, which is put into the headers of its requests. */
async function terminate(
  use: { passage: Passage; http: HttpSide },
  visit: Visit,
  socket: Socket,
  host: string,
): Promise<void> {
  const secureContext = await use.passage.leafFor(host)
  if (socket.destroyed) return
  const inner = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  visit.holds(inner)
  const timer = setTimeout(() => visit.close(), HELLO_TIMEOUT_MS)
  const broken = () => {
    const reason = visit.cutFor ?? 'client_tls_failed'
    use.passage.receipt({ host, port: visit.port, bytesIn: 0, bytesOut: 0, verdict: 'failed', reason })
  }
  inner.on('error', () => inner.destroy())
  inner.once('close', broken)
  // A client that leaves in the middle of its handshake only closes its half.
  const left = () => inner.destroy()
  inner.once('end', left)
  inner.once('close', () => {
    clearTimeout(timer)
    socket.destroy()
  })
  inner.once('secure', () => {
    clearTimeout(timer)
    inner.off('close', broken).off('end', left)
    use.http.serve(inner, { kind: 'origin', visit, host, secure: true })
  })
}

function refuse(passage: Passage, visit: Visit, socket: Socket, reason: Reason): void {
  passage.receipt({ host: visit.host, port: visit.port, bytesIn: 0, bytesOut: 0, verdict: 'refused', reason })
  goodbye(socket, tlsAlert(reason === 'hello_malformed' ? 'decode_error' : alertOf(reason)))
}

function fail(passage: Passage, visit: Visit, socket: Socket, reason: Reason): void {
  const verdict = reason === 'address_not_allowed' ? 'refused' : 'failed'
  passage.receipt({ host: visit.host, port: visit.port, bytesIn: 0, bytesOut: 0, verdict, reason })
  goodbye(socket, tlsAlert(verdict === 'refused' ? 'access_denied' : 'internal_error'))
}

const alertOf = (reason: Reason) => (reason === 'domain_not_allowed' ? 'unrecognized_name' : 'access_denied')

function goodbye(socket: Socket, alert: Buffer): void {
  socket.on('error', () => socket.destroy())
  socket.end(alert)
  socket.destroySoon()
}

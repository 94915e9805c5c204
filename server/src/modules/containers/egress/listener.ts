import { chmod, open, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { basename, dirname } from 'node:path'
import { DialFailed } from './dial.ts'
import { refusalText } from './exchange.ts'
import { looksLikeAddress } from './host-name.ts'
import { createHttpSide, type HttpSide, type Side } from './http-side.ts'
import type { Passage } from './passage.ts'
import { readFirst } from './read-first.ts'
import type { Reason } from './reasons.ts'
import { readAuthority } from './request-headers.ts'
import { splice } from './splice.ts'
import { enterTls } from './tls-side.ts'
import { Visit } from './visit.ts'

/** Open connections of one container. */
const CONNECTIONS_MAX = 128
const PREAMBLE_BYTES_MAX = 64
const PREAMBLE_TIMEOUT_MS = 5_000
/** On ports that an administrator added, the host may speak first; a client that is silent this long is waiting for it. */
const SILENCE_MS = 500
const SOCKET_PATH_MAX = 108
const TLS_FIRST_BYTE = 0x16

/** Opens the one way out of a container: a unix socket, whose path is the container's identity. */
export async function openListener(socketPath: string, passage: Passage): Promise<Server> {
  const http: HttpSide = createHttpSide(passage, (side, authority, socket) =>
    enterConnect({ passage, http }, side, authority, socket),
  )
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    void admit({ passage, http }, socket).catch(() => socket.destroy())
  })
  server.maxConnections = CONNECTIONS_MAX
  server.on('drop', () => refused(passage, '', 0, 'too_many_connections'))
  await rm(socketPath, { force: true })
  await listenAt(server, socketPath)
  // Programs of every user in the container use it; the folder it lies in is the container's own.
  await chmod(socketPath, 0o666)
  return server
}

/** The kernel bounds the path of a unix socket at 108 bytes; a longer one is reached through its folder. */
async function listenAt(server: Server, socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) < SOCKET_PATH_MAX) {
    server.listen(socketPath)
    await once(server, 'listening')
    return
  }
  const folder = await open(dirname(socketPath))
  try {
    server.listen(`/proc/self/fd/${folder.fd}/${basename(socketPath)}`)
    await once(server, 'listening')
  } finally {
    await folder.close()
  }
}

type Sides = { passage: Passage; http: HttpSide }

async function admit(use: Sides, socket: Socket): Promise<void> {
  const port = await readPreamble(socket)
  if (port === null) return void socket.destroy()
  const visit = new Visit(port)
  use.passage.visits.add(visit)
  visit.holds(socket)
  socket.once('close', () => use.passage.visits.delete(visit))
  if (port === 443) await enterTls(use, visit, socket, null)
  else use.http.serve(socket, { kind: port === 80 ? 'plain' : 'proxy', visit, host: null, secure: false })
}

/** The forwarder's first line: the port that a program inside connected to. */
async function readPreamble(socket: Socket): Promise<80 | 443 | 3128 | null> {
  const first = await readFirst(
    socket,
    (bytes) => {
      const end = bytes.indexOf('\n')
      return end === -1 ? null : { value: bytes.toString('latin1', 0, end), used: end + 1 }
    },
    { bytesMax: PREAMBLE_BYTES_MAX, timeoutMs: PREAMBLE_TIMEOUT_MS },
  )
  const port = 'found' in first ? /^\{"port": ?(80|443|3128)\}$/.exec(first.found)?.[1] : undefined
  return port === undefined ? null : (Number(port) as 80 | 443 | 3128)
}

/** CONNECT: the host is settled here, and what then comes through must agree with it. */
async function enterConnect(use: Sides, side: Side, authority: string, socket: Socket): Promise<void> {
  const { passage } = use
  const target = readAuthority(authority, null)
  if (target === null) {
    const reason = looksLikeAddress(authority.replace(/:\d+$/, '')) ? 'name_is_address' : 'name_malformed'
    refused(passage, '', 0, reason)
    return void socket.end(refusalText(403, reason))
  }
  const notAllowed = passage.refusalFor(target.host, target.port)
  if (notAllowed !== null) {
    refused(passage, target.host, target.port, notAllowed)
    return void socket.end(refusalText(403, notAllowed))
  }
  const { visit } = side
  visit.host = target.host
  visit.port = target.port
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  if (target.port === 443) return await enterTls(use, visit, socket, target.host)
  if (target.port === 80) return use.http.serve(socket, { kind: 'plain', visit, host: target.host, secure: false })
  await enterOther(use, visit, socket, target)
}

/** Ports that an administrator added: TLS is read as on 443, anything else is passed to that host as it is. */
async function enterOther(
  use: Sides,
  visit: Visit,
  socket: Socket,
  target: { host: string; port: number },
): Promise<void> {
  const first = await readFirst(socket, (bytes) => ({ value: bytes[0], used: 0 }), {
    bytesMax: 0,
    timeoutMs: SILENCE_MS,
  })
  if ('found' in first && first.found === TLS_FIRST_BYTE) return await enterTls(use, visit, socket, target.host)
  try {
    const outer = await use.passage.dial(target.host, target.port, false)
    visit.holds(outer)
    splice(use.passage, visit, socket, outer)
  } catch (error) {
    const reason = error instanceof DialFailed ? error.reason : 'connect_failed'
    const verdict = reason === 'address_not_allowed' ? 'refused' : 'failed'
    use.passage.receipt({ ...target, bytesIn: 0, bytesOut: 0, verdict, reason })
    socket.destroy()
  }
}

function refused(passage: Passage, host: string, port: number, reason: Reason): void {
  passage.receipt({ host, port, bytesIn: 0, bytesOut: 0, verdict: 'refused', reason })
}

import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerRefused, exchange, exchangeUpgrade, refusalText, type Exchange } from './exchange.ts'
import type { Passage } from './passage.ts'
import type { Reason } from './reasons.ts'
import { framingIsPlain, headerValues, prepareHeaders } from './request-headers.ts'
import { targetOf } from './request-target.ts'
import { IDLE_TIMEOUT_MS } from './splice.ts'
import type { Visit } from './visit.ts'

/** What a connection is that speaks HTTP to us: an origin whose name is settled, or one that each request names. */
export type Side = {
  kind: 'origin' | 'plain' | 'proxy'
  visit: Visit
  /** Settled by SNI or CONNECT; null when the Host header decides. */
  host: string | null
  secure: boolean
}

export type HttpSide = ReturnType<typeof createHttpSide>

const HEADER_BYTES_MAX = 32_768
/** How long a client may take over the head of a request, from the end of the one before. */
const HEAD_TIMEOUT_MS = 60_000
const UPSTREAMS_PER_CONNECTION_MAX = 4

/** Reads requests of one container, strictly: node's parser refuses what two readers could understand in two ways. */
export function createHttpSide(
  passage: Passage,
  onConnect: (side: Side, authority: string, socket: Socket) => Promise<void>,
) {
  const sides = new WeakMap<object, Held>()
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false, // looked at below, with a receipt
    shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
  })
  // No limit but the bytes: node would leave further headers out without a word, the one that frames the body too.
  server.maxHeadersCount = 0

  const prepare = (request: IncomingMessage): Prepared => prepareExchange(passage, request, sides.get(request.socket))
  const note = (refusal: Refusal, verdict: 'refused' | 'failed' = 'refused') => {
    const { refused: reason, host, port } = refusal
    passage.receipt({ host, port, bytesIn: 0, bytesOut: 0, verdict, reason })
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const prepared = prepare(request)
    response.once('close', () => sides.get(request.socket)?.head.start())
    if (!('refused' in prepared)) return guarded(() => exchange(prepared, response), request.socket)
    note(prepared)
    answerRefused(response, prepared.refused === 'request_malformed' ? 400 : 403, prepared.refused)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const prepared = hasBody(request) ? malformed(sides.get(request.socket)) : prepare(request)
    if (!('refused' in prepared)) return guarded(() => exchangeUpgrade(prepared, socket, head), socket)
    note(prepared)
    socket.end(refusalText(403, prepared.refused))
  })
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const side = sides.get(socket)
    side?.head.stop()
    if (side?.kind === 'proxy') {
      if (head.length > 0) socket.unshift(head)
      void onConnect(side, request.url ?? '', socket)
      return
    }
    note(malformed(side))
    socket.end(refusalText(403, 'request_malformed'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const side = sides.get(socket)
    const parsing = error.code?.startsWith('HPE_') === true
    if (parsing) note(malformed(side))
    if (parsing && socket.writable) socket.end(refusalText(400, 'request_malformed'))
    else socket.destroy()
  })

  return {
    /** Takes a socket over; bytes that were read ahead must have been put back. */
    serve(socket: Socket, side: Side): void {
      const agent = agentOf(passage, side)
      const head = headTimer(socket)
      const held = { ...side, agent, head, asked: false }
      sides.set(socket, held)
      side.visit.holds(agent)
      head.start()
      server.emit('connection', socket)
      socket.once('close', () => {
        side.visit.close()
        // Some clients look at the certificate only now. One that leaves without a word did not like it.
        if (side.secure && !held.asked) note({ ...malformed(side), refused: 'client_tls_failed' }, 'failed')
      })
      socket.resume()
    },
  }
}

type Held = Side & { agent: Agent; head: HeadTimer; asked: boolean }
type Refusal = { refused: Reason; host: string; port: number }
type Prepared = Exchange | Refusal

const malformed = (side: Side | undefined): Refusal => ({
  refused: 'request_malformed',
  host: side?.host ?? '',
  port: side?.visit.port ?? 0,
})

/** Everything that is asked of a request before a byte of it goes anywhere. */
function prepareExchange(passage: Passage, request: IncomingMessage, side: Held | undefined): Prepared {
  if (side !== undefined) side.asked = true
  if (side === undefined || !framingIsPlain(request)) return malformed(side)
  side.head.stop()
  const target = targetOf(request, headerValues(request, 'host'), side)
  if ('refused' in target) return { port: side.visit.port, ...target }
  const { host, port } = target
  const notAllowed = passage.refusalFor(host, port)
  if (notAllowed !== null) return { refused: notAllowed, host, port }
  const prepared = prepareHeaders(request, target, {
    secrets: passage.secrets(),
    secure: side.secure,
    plainHttpSecrets: passage.plainHttpSecrets(),
  })
  if ('refused' in prepared) return { ...prepared, host, port }
  return { passage, visit: side.visit, agent: side.agent, target, request, ...prepared }
}

/** Whatever the HTTP code will not send (it throws) ends the connection it came by, and nothing else. */
function guarded(send: () => void, socket: Duplex): void {
  try {
    send()
  } catch {
    socket.destroy()
  }
}

/** A request to switch protocols has none; one that does would be read in two ways. */
const hasBody = (request: IncomingMessage): boolean =>
  headerValues(request, 'content-length').length > 0 || headerValues(request, 'transfer-encoding').length > 0

type HeadTimer = { start(): void; stop(): void }

/** Bounds how long the head of a request may take. Node's own time-out is only for servers that listen themselves. */
function headTimer(socket: Socket): HeadTimer {
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  const start = () => {
    stop()
    if (!socket.destroyed) timer = setTimeout(() => socket.destroy(), HEAD_TIMEOUT_MS)
  }
  socket.once('close', stop)
  socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy())
  return { start, stop }
}

/** Connections to hosts live as long as the client's, and no longer. */
function agentOf(passage: Passage, side: Side): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxTotalSockets: UPSTREAMS_PER_CONNECTION_MAX })
  agent.createConnection = (options, done) => {
    passage.dial(String(options.host), Number(options.port), side.secure).then(
      (socket) => {
        socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy())
        done?.(null, socket)
      },
      (error: Error) => done?.(error, undefined as never),
    )
    return undefined
  }
  return agent
}

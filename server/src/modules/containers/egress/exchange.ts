import { request as sendRequest, type Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'
import { DialFailed } from './dial.ts'
import { inSameLength, maskedValues, MaskStream, maskText, type Masked } from './masking.ts'
import type { Passage } from './passage.ts'
import { REASONS, type Reason } from './reasons.ts'
import { bodyStreams, replyHeaders } from './reply.ts'
import type { Target } from './request-headers.ts'
import type { Visit } from './visit.ts'

/** One request that was allowed, with what is needed to send it on. */
export type Exchange = {
  passage: Passage
  visit: Visit
  agent: Agent
  target: Target
  headers: string[]
  injected: number
  encoded: readonly { sent: string; given: string }[]
  request: IncomingMessage
}

const HEADER_BYTES_MAX = 65_536

/** Sends a request on and its reply back, with the values of the host's secrets masked. */
export function exchange(use: Exchange, response: ServerResponse): void {
  const masked = maskedOf(use)
  const receipt = receiptOnce(use, use.request.socket)
  const outgoing = send(use)
  outgoing.on('response', (reply) => {
    const streams = bodyStreams(reply, masked)
    if (streams === null) {
      outgoing.destroy()
      return answerRefused(response, 502, 'bad_reply')
    }
    response.sendDate = false
    response.writeHead(reply.statusCode ?? 502, replyHeaders(reply, masked))
    reply.once('aborted', () => receipt('bad_reply'))
    // Headers leave at once: an event stream may have nothing else to say for a while.
    response.flushHeaders()
    pipeline([reply, ...streams, response], (error) => {
      if (error) response.destroy()
    })
  })
  outgoing.on('error', (error) => {
    const reason = reasonOf(error)
    receipt(reason)
    // The host closed a connection that was kept open: the client tries again by its own rules.
    if (response.headersSent || outgoing.reusedSocket) response.destroy()
    else answerRefused(response, reason === 'address_not_allowed' ? 403 : 502, reason)
  })
  response.on('close', () => {
    receipt(response.writableFinished ? null : (use.visit.cutFor ?? 'client_gone'))
    if (!response.writableFinished) outgoing.destroy()
  })
  use.request.on('error', () => outgoing.destroy())
  use.request.on('aborted', () => outgoing.destroy())
  use.request.pipe(outgoing)
}

/** The same for a websocket, which goes on as bytes in both directions once the host agrees. */
export function exchangeUpgrade(use: Exchange, socket: Duplex, head: Buffer): void {
  const receipt = receiptOnce(use, use.request.socket)
  const outgoing = send(use, ['Connection', 'Upgrade', 'Upgrade', 'websocket'])
  socket.on('error', () => socket.destroy())
  socket.once('close', () => {
    receipt(use.visit.cutFor)
    outgoing.destroy()
  })
  outgoing.on('upgrade', (reply, outer, outerHead) => {
    use.visit.holds(outer)
    outer.on('error', () => outer.destroy())
    socket.write(replyHead(reply, maskedOf(use), ['connection', 'upgrade']))
    if (head.length > 0) outer.write(head)
    if (outerHead.length > 0) outer.unshift(outerHead)
    // Frames count their bytes, so what stands for a value here is as long as the value.
    const mask = new MaskStream(inSameLength(maskedOf(use)))
    pipeline([outer, mask, socket], () => socket.destroy())
    pipeline([socket, outer], () => outer.destroy())
    socket.resume()
  })
  outgoing.on('response', (reply) => {
    const masked = maskedOf(use)
    const streams = bodyStreams(reply, masked)
    if (streams === null) return void socket.destroy()
    socket.write(replyHead(reply, masked))
    pipeline([reply, ...streams, socket], () => socket.destroy())
  })
  outgoing.on('error', (error) => {
    receipt(reasonOf(error))
    socket.end(refusalText(502, reasonOf(error)))
  })
  outgoing.end()
}

function send(use: Exchange, more: readonly string[] = []) {
  const { target, visit } = use
  visit.host = target.host
  visit.port = target.port
  return sendRequest({
    agent: use.agent,
    host: target.host,
    port: target.port,
    path: target.path,
    method: use.request.method ?? 'GET',
    headers: [...use.headers, ...(more.length > 0 ? more : ['Connection', 'keep-alive'])],
    insecureHTTPParser: false,
    maxHeaderSize: HEADER_BYTES_MAX,
  })
}

const ownSecrets = (use: Exchange) => use.passage.secrets().filter(({ domain }) => domain === use.target.host)

function maskedOf(use: Exchange): Masked[] {
  const credentials = use.encoded.map(({ sent, given }) => ({ value: Buffer.from(sent), shownAs: Buffer.from(given) }))
  return [...maskedValues(ownSecrets(use)), ...credentials].toSorted((a, b) => b.value.length - a.value.length)
}

/** Status and headers of a reply that ends with its connection, or never. The words of its status line are not passed. */
function replyHead(reply: IncomingMessage, masked: readonly Masked[], keep: readonly string[] = []): string {
  const headers = replyHeaders(reply, masked, keep)
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1] ?? ''}`] : []))
  if (keep.length === 0) lines.push('Connection: close')
  return maskText(`HTTP/1.1 ${reply.statusCode ?? 502} Reply\r\n${lines.join('\r\n')}\r\n\r\n`, masked)
}

function reasonOf(error: Error): Reason {
  if (error instanceof DialFailed) return error.reason
  return 'bad_reply'
}

function receiptOnce(use: Exchange, socket: { bytesRead: number; bytesWritten: number }) {
  let left = false
  return (reason: Reason | null): void => {
    if (left) return
    left = true
    use.passage.receipt({
      host: use.target.host,
      port: use.target.port,
      ...use.visit.takeBytes(socket),
      verdict: verdictOf(reason, use.injected),
      reason,
    })
  }
}

function verdictOf(reason: Reason | null, injected: number) {
  if (reason === null || reason === 'client_gone') return injected > 0 ? 'injected' : 'allowed'
  return reason === 'address_not_allowed' ? 'refused' : 'failed'
}

/** Says why, to a program that reads it and to a person who sees it in a terminal. */
export function refusalBody(reason: Reason): string {
  return `${JSON.stringify({ error: { type: 'egress_refused', code: reason, message: REASONS[reason] } })}\n`
}

export function answerRefused(response: ServerResponse, status: number, reason: Reason): void {
  const body = refusalBody(reason)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-egress-reason': reason,
    connection: 'close',
  })
  response.end(body)
}

export function refusalText(status: number, reason: Reason): string {
  const body = refusalBody(reason)
  return [
    `HTTP/1.1 ${status} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Egress-Reason: ${reason}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

/** Plays the internet: whatever address is dialled, a server answers, and says over IPC who asked for what. */
import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { answerQuery } from '../../server/src/modules/containers/egress/testing/fake-dns.ts'
import type { InternetEvent, InternetOrder, RequestSeen } from './internet.ts'
import { nameAt, world } from './world.ts'

const otherPorts = [22, 25, 53, 853, 3128, 8080, 8443]
const tickMs = 50
const recordA = 1
const websocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

const tell = (event: InternetEvent) => void process.send?.(event)
let rebinds = 0

function addressesOf(name: string, type = recordA): readonly string[] | undefined {
  const host = Object.values(world.hosts).find((one) => one.name === name)
  if (host !== undefined) return [host.v4, host.v6]
  if (name === world.rebind.name) {
    if (type === recordA) rebinds += 1
    return [rebinds % 2 === 1 ? world.rebind.first : world.rebind.then]
  }
  if (name.endsWith(`.${world.wildcard}`)) return [world.hosts.open.v4]
  const inward = /^([^.]+)\.(.+)$/.exec(name)
  return inward?.[2] === world.inwardZone ? world.inward[inward[1] ?? ''] : undefined
}

/** Whose server this is: by the address that was dialled, for that is what a packet can be sent to. */
function arrival(socket: Socket): { address: string; name: string | undefined } {
  const address = (socket.localAddress ?? '').replace(/^::ffff:/, '')
  return { address, name: nameAt.get(address) }
}

function noteRequest(kind: RequestSeen['kind'], request: IncomingMessage) {
  const socket = request.socket
  const { address, name } = arrival(socket)
  const secure = socket instanceof TLSSocket
  const host = (request.headers.host ?? '').replace(/:\d+$/, '')
  const expected = name === host || (name === world.hosts.open.name && host.endsWith(`.${world.wildcard}`))
  const { url = '', method = '', rawHeaders } = request
  const serverName = secure ? String((socket as TLSSocket & { servername?: string | false }).servername ?? '') : ''
  tell({
    kind,
    address,
    port: socket.localPort ?? 0,
    host,
    serverName,
    method,
    url,
    secure,
    expected,
    headers: rawHeaders,
  })
  // A front door that is asked for somebody else's host still is the listed host: its answer says which.
  return { text: name === undefined ? `REACHED ${address} ${host}` : `welcome ${name} as ${host} ${url}`, name, host }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { text } = noteRequest('request', request)
  const url = new URL(request.url ?? '/', 'http://x.example')
  request.resume()
  if (url.pathname === '/redirect') {
    return void response.writeHead(302, { location: url.searchParams.get('to') ?? '/' }).end()
  }
  if (url.pathname === '/dns-query') {
    const query = Buffer.from(url.searchParams.get('dns') ?? '', 'base64url')
    return void response.end(answerQuery(query, (name) => addressesOf(name)?.slice(0, 1)).answer)
  }
  if (url.pathname === '/ticks') return ticks(request, response)
  if (url.pathname === '/echo') return void response.end(echoOf(request, url.searchParams.get('as') ?? 'plain'))
  response.end(text)
}

/** Says back the key that it was sent, as it is or in another form. */
function echoOf(request: IncomingMessage, form: string): string {
  const key = String(request.headers['x-key'] ?? '')
  return form === 'base64' ? Buffer.from(key).toString('base64') : key
}

/** Goes on until it is cut. */
function ticks(request: IncomingMessage, response: ServerResponse): void {
  const timer = setInterval(() => response.write('tick\n'), tickMs)
  const { address } = arrival(request.socket)
  tell({ kind: 'ticking', address })
  response.once('close', () => {
    clearInterval(timer)
    tell({ kind: 'cut', address, at: Date.now() })
  })
}

function accept(request: IncomingMessage, socket: Duplex): void {
  const { text } = noteRequest('upgrade', request)
  const accepted = createHash('sha1').update(`${request.headers['sec-websocket-key']}${websocketGuid}`).digest('base64')
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
  const said = Buffer.from(text)
  socket.on('error', () => socket.destroy())
  socket.write([...head, `Sec-WebSocket-Accept: ${accepted}`, '', ''].join('\r\n'))
  socket.end(Buffer.concat([Buffer.from([0x81, said.length]), said]))
}

/** A host that relays for anybody. */
function relay(request: IncomingMessage, socket: Duplex): void {
  noteRequest('relay', request)
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 200 Relayed\r\n\r\nREACHED ${request.url} by relay`)
}

async function listenHttp(cert: string, key: string): Promise<void> {
  for (const [server, port] of [
    [createHttps({ cert, key }), 443],
    [createHttp(), 80],
  ] as const) {
    server.on('request', answer)
    server.on('upgrade', accept)
    server.on('connect', relay)
    server.listen(port, '::')
    await once(server, 'listening')
  }
}

async function listenOthers(): Promise<void> {
  for (const port of otherPorts) {
    const server = createServer((socket) => {
      tell({ kind: 'connection', port, ...arrival(socket) })
      socket.on('error', () => socket.destroy())
      socket.end(`REACHED port ${port}`)
    })
    server.listen(port, '::')
    await once(server, 'listening')
  }
}

async function listenNames(): Promise<void> {
  for (const address of [world.resolver.v4, world.resolver.v6]) {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    socket.on('message', (query, from) => {
      const { name, type, answer: reply } = answerQuery(query, addressesOf)
      tell({ kind: 'question', name, type })
      socket.send(reply, from.port, from.address)
    })
    socket.bind(53, address)
    await once(socket, 'listening')
  }
}

process.on('message', (order: InternetOrder) => {
  if (order.kind === 'sync') return tell({ kind: 'synced', number: order.number })
  Promise.all([listenHttp(order.cert, order.key), listenOthers(), listenNames()]).then(
    () => tell({ kind: 'ready' }),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))

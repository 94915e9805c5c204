import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerParent, sharedNow } from './child.ts'
import type { SinkQuestion, SinkReport } from './sink.ts'

interface Path {
  requests: number
  unsigned: number
  otherId: number
  times: Uint8Array
  firstAt: Float64Array
  key: KeyObject
}

const timesMax = 255
const straysMax = 100
const slowStride = 619
const paths = new Map<string, Path>()
const strays: string[] = []
let webhookIds: (string | undefined)[] = []
let eventsMax = 0
let slow = { perThousand: 0, ms: 0 }
let total = { requests: 0, firstAt: 0, lastAt: 0 }

const emptyPath = (key: KeyObject): Path => ({
  requests: 0,
  unsigned: 0,
  otherId: 0,
  times: new Uint8Array(eventsMax),
  firstAt: new Float64Array(eventsMax),
  key,
})

function isSigned(path: Path, headers: IncomingMessage['headers'], body: string): boolean {
  const given = headers['webhook-signature']
  if (typeof given !== 'string' || !given.startsWith('v1,')) return false
  const message = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`
  const wanted = createHmac('sha256', path.key).update(message).digest()
  const got = Buffer.from(given.slice('v1,'.length), 'base64')
  return got.length === wanted.length && timingSafeEqual(got, wanted)
}

/** The number of the event, as the publisher put it into its data. */
function numberOf(body: string): number {
  const at = body.lastIndexOf('"n":')
  return at === -1 ? -1 : Number.parseInt(body.slice(at + 4), 10)
}

function note(path: Path, headers: IncomingMessage['headers'], body: string): void {
  const now = sharedNow()
  total.requests += 1
  if (total.firstAt === 0) total.firstAt = now
  total.lastAt = now
  path.requests += 1
  if (!isSigned(path, headers, body)) path.unsigned += 1
  const number = numberOf(body)
  const id = headers['webhook-id'] as string
  const known = webhookIds[number]
  if (known === undefined) webhookIds[number] = id
  else if (known !== id) path.otherId += 1
  if (path.times[number] === 0) path.firstAt[number] = now
  path.times[number] = Math.min((path.times[number] ?? 0) + 1, timesMax)
}

/** Spread evenly, not in a row. */
const isSlow = () => slow.perThousand > 0 && (total.requests * slowStride) % 1_000 < slow.perThousand

function answer(url: string, response: ServerResponse): void {
  if (url.startsWith('/ok')) {
    if (isSlow()) setTimeout(() => response.writeHead(200).end(), slow.ms)
    else response.writeHead(200).end()
  } else if (url.startsWith('/error')) response.writeHead(500).end('no')
  else if (url.startsWith('/redirect')) response.writeHead(307, { location: url.replace('/redirect', '/target') }).end()
  else if (url.startsWith('/reset')) response.socket?.resetAndDestroy()
  // And /hang says nothing.
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const url = request.url ?? ''
  const path = paths.get(url)
  if (path === undefined && strays.length < straysMax) strays.push(url)
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    if (path !== undefined) note(path, request.headers, body)
    answer(url, response)
  })
}

async function listen(): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, receive)
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve))
  return (server.address() as AddressInfo).port
}

function report(): SinkReport {
  const told = [...paths].map(([name, { requests, unsigned, otherId, times }]) => [
    name,
    { requests, unsigned, otherId, times },
  ])
  return { paths: Object.fromEntries(told) as SinkReport['paths'], strays, webhookIds }
}

function forget(): void {
  for (const [name, { key }] of paths) paths.set(name, emptyPath(key))
  webhookIds = []
  total = { requests: 0, firstAt: 0, lastAt: 0 }
}

answerParent<SinkQuestion>(async (question) => {
  switch (question.kind) {
    case 'listen':
      eventsMax = question.eventsMax
      return await Promise.all(Array.from({ length: question.ports }, listen))
    case 'expect':
      for (const [name, secret] of Object.entries(question.secrets))
        paths.set(name, emptyPath(createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))))
      return null
    case 'slow':
      slow = question
      return null
    case 'counts':
      return total
    case 'report':
      return report()
    case 'arrivals':
      return question.paths.map((name) => paths.get(name)?.firstAt ?? new Float64Array(0))
    case 'forget':
      return forget()
  }
})

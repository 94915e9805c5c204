import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { urlOf } from '../call-operation.ts'
import type { Example } from './example.ts'
import { keyFor, type Place } from './place.ts'

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly error: ErrorBody['error'] | undefined
}

export interface RawBody {
  readonly headers: Readonly<Record<string, string>>
  /** Sent as it comes, until it ends or the reply is there. Without a content-length it goes in chunks. */
  readonly chunks: Iterable<Uint8Array>
}

/** Half a gigabyte has to pass on a machine that has other things to do. */
const replyBoundMs = 240_000

export function rawOf(body: Example['body'] | string | undefined): RawBody | null {
  if (body === undefined) return null
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
  return { headers, chunks: [bytes] }
}

/** Calls an operation with bytes that a well-behaved client would not send. */
export async function sendRaw(
  place: Place,
  operation: Operation,
  example: Example,
  body: RawBody | null,
): Promise<RawReply> {
  const url = urlOf(place.app.baseUrl, operation, {
    ...(example.params && { params: { ...example.params } }),
    ...(example.query && { query: { ...example.query } }),
  })
  const outgoing = httpRequest(url, {
    method: operation.method,
    agent: false,
    headers: { authorization: `Bearer ${keyFor(place, operation.auth)}`, ...body?.headers },
    signal: AbortSignal.timeout(replyBoundMs),
  })
  const replied = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    // After the reply an error only says that the server did not want the rest.
    outgoing.on('error', reject)
  })
  const writing = write(outgoing, body?.chunks ?? [], Number(body?.headers['content-length'] ?? -1))
  const incoming = await replied
  const text = await readAll(incoming)
  outgoing.destroy()
  await writing
  const json = (incoming.headers['content-type'] ?? '').startsWith('application/json')
  const error = json ? (JSON.parse(text) as Partial<ErrorBody>).error : undefined
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text, error }
}

async function write(
  outgoing: ReturnType<typeof httpRequest>,
  chunks: Iterable<Uint8Array>,
  announced: number,
): Promise<void> {
  let done = false
  const over = new Promise<void>((resolve) => {
    const end = () => {
      done = true
      resolve()
    }
    for (const event of ['response', 'close', 'error']) outgoing.once(event, end)
  })
  outgoing.flushHeaders()
  let sent = 0
  for (const chunk of chunks) {
    if (done) return
    sent += chunk.byteLength
    if (!outgoing.write(chunk)) {
      await Promise.race([over, new Promise<void>((resolve) => void outgoing.once('drain', resolve))])
    }
  }
  // An announced body that does not come keeps the request open, as such a client would.
  if (announced < 0 || sent >= announced) outgoing.end()
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch (error) {
    if (!incoming.complete) throw error
  }
  return Buffer.concat(chunks).toString('utf8')
}

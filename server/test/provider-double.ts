import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import {
  usageOf,
  type Answer,
  type DoubleWire,
  type ModelAnswer,
  type StatusAnswer,
  type WireEvent,
} from './provider-double/answer.ts'
import { chatWire } from './provider-double/chat-wire.ts'
import { messagesWire } from './provider-double/messages-wire.ts'
import { responsesWire } from './provider-double/responses-wire.ts'

export type { Answer, ModelAnswer } from './provider-double/answer.ts'

/** A request as it came. */
export interface Received {
  readonly wire: 'chat' | 'responses' | 'messages'
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Record<string, unknown>
  /** Whether the other side went before the answer was complete. */
  gone: boolean
}

type Decide = (body: Record<string, unknown>, received: Received) => Answer | Promise<Answer>

/**
 * A model provider for tests, at the wire: `POST /chat/completions`, `/responses` and `/messages` under `url`, streamed
 * or whole as the request asks. Without a script it repeats the last user text.
 *
 *     double.queue('Hello.', { calls: [{ name: 'f', arguments: { a: 1 } }] })   // the next two turns, in order
 *     double.queue({ status: 429, headers: { 'retry-after': '1' } })            // a refusal at the door
 *     double.queue({ text: 'one two three', after: 2, trouble: 'cut' })         // fails in the middle
 *     double.decide((body) => (body['tools'] ? { calls: […] } : 'Done.'))       // for every turn that is not queued
 *     double.requests.at(-1)?.body                                              // what was asked
 */
export interface ProviderDouble {
  readonly url: string
  readonly requests: Received[]
  /** Answers of the next requests, whatever they ask. */
  queue(...answers: Answer[]): void
  /** Answers whatever finds the queue empty. */
  decide(answer: Decide): void
  /** Answers under way: zero again once every client has left or got all. */
  open(): number
  /** Connections that were ever made. */
  connections(): number
  close(): Promise<void>
}

const wires = { '/chat/completions': 'chat', '/responses': 'responses', '/messages': 'messages' } as const
const formOf: Readonly<Record<Received['wire'], DoubleWire>> = {
  chat: chatWire,
  responses: responsesWire,
  messages: messagesWire,
}

export async function startProviderDouble(): Promise<ProviderDouble> {
  const requests: Received[] = []
  const queued: Answer[] = []
  let decide: Decide = (body, { wire }) => formOf[wire].lastUserText(body)
  let open = 0
  let connections = 0
  const server = createServer((request, response) => {
    open += 1
    response.once('close', () => (open -= 1))
    serve(request, response).catch(() => response.destroy())
  })

  server.on('connection', () => (connections += 1))

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wire = Object.entries(wires).find(([path]) => request.url?.endsWith(path))?.[1]
    if (wire === undefined) return void response.writeHead(404).end('{}')
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>
    const received: Received = { wire, headers: request.headers, body, gone: false }
    requests.push(received)
    response.once('close', () => (received.gone = !response.writableFinished))
    const answer = queued.shift() ?? (await decide(body, received))
    if (typeof answer === 'object' && 'status' in answer) return refuse(response, answer)
    const said = typeof answer === 'string' ? { text: answer } : answer
    const form = formOf[wire]
    const counted = { ...said, usage: usageOf(said, form.inputWords(body)) }
    const model = String(body['model'])
    if (body['stream'] === true) await stream(response, form, counted, model)
    else await whole(response, form, counted, model)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    queue: (...answers) => void queued.push(...answers),
    decide: (answer) => void (decide = answer),
    open: () => open,
    connections: () => connections,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function refuse(response: ServerResponse, { status, headers = {}, body }: StatusAnswer): void {
  const usual = { error: { message: `The double says ${status}.`, type: 'double', code: null } }
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? usual))
}

const framed = ({ event, data }: WireEvent) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

async function stream(response: ServerResponse, form: DoubleWire, answer: ModelAnswer, model: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  const events = form.events(answer, model)
  const upTo = answer.trouble === undefined ? events.length : (answer.after ?? 0)
  for (const event of events.slice(0, upTo)) {
    if (answer.slowMs !== undefined) await after(answer.slowMs)
    if (response.destroyed) return
    response.write(framed(event))
  }
  if (answer.trouble === undefined) response.end()
  if (answer.trouble === 'malformed') response.end('data: {"this is": not JSON\n\n')
  if (answer.trouble === 'error') response.end(framed(form.error('The double fails.')))
  // What was written shall arrive before the connection breaks.
  if (answer.trouble === 'cut') response.write('', () => setImmediate(() => response.destroy()))
}

async function whole(response: ServerResponse, form: DoubleWire, answer: ModelAnswer, model: string): Promise<void> {
  if (answer.slowMs !== undefined) await after(answer.slowMs)
  if (answer.trouble === 'hang') return
  const text = JSON.stringify(form.whole(answer, model))
  response.writeHead(answer.trouble === 'error' ? 500 : 200, { 'content-type': 'application/json' })
  if (answer.trouble === 'cut') response.write(text.slice(0, 20), () => setImmediate(() => response.destroy()))
  else if (answer.trouble === 'malformed') response.end(text.slice(0, -5))
  else response.end(text)
}

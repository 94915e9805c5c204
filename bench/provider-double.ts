/**
 * A model provider that costs as little as it can: the same answer to every chat completion, whole or as a stream of one
 * event a write, so that each is a packet of its own as from a model. Every twin of a bench asks this one.
 */
import { createServer, type ServerResponse } from 'node:http'

export interface ProviderOptions {
  readonly port: number
  /** Pieces of text in a stream. */
  readonly events: number
  /** How long a stream says nothing. */
  readonly firstTokenMs?: number
}

interface Stream {
  readonly response: ServerResponse
  at: number
}

const chunk = (rest: object) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench0123456789abcdef',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bench',
    ...rest,
  })}\n\n`
const choice = (delta: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })

const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }
const answer = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench0123456789abcdef',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'All is well on the line. '.repeat(8), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
  }),
)

function serve({ port, events, firstTokenMs = 0 }: ProviderOptions): void {
  const pieces = [
    choice({ role: 'assistant', content: '' }),
    ...Array.from({ length: events }, (_none, number) => choice({ content: ` word${number}` })),
    choice({}, 'stop'),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ].map((text) => Buffer.from(text))
  const streams = new Set<Stream>()
  let bytesTaken = 0

  /** One event of every stream a turn of the loop. */
  const tell = () => {
    for (const stream of streams) {
      const piece = pieces[stream.at]
      stream.at += 1
      if (piece !== undefined && !stream.response.destroyed) stream.response.write(piece)
      else {
        streams.delete(stream)
        stream.response.end()
      }
    }
    if (streams.size > 0) setImmediate(tell)
  }

  const server = createServer((request, response) => {
    const taken: Buffer[] = []
    request.on('data', (bytes: Buffer) => taken.push(bytes))
    request.on('end', () => {
      const body = taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken)
      bytesTaken += body.length
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ bytesTaken }))
      } else if (body.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const begin = () => {
          streams.add({ response, at: 0 })
          if (streams.size === 1) setImmediate(tell)
        }
        if (firstTokenMs === 0) begin()
        else setTimeout(begin, firstTokenMs)
      } else {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer)
      }
    })
  })
  server.keepAliveTimeout = 0
  process.once('SIGTERM', () => process.exit())
  server.listen(port, '127.0.0.1')
}

serve(JSON.parse(process.env['BENCH_OPTIONS'] ?? '') as ProviderOptions)

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly at: number
}

type Answer = (response: ServerResponse, received: Received) => void

export interface Sink {
  readonly url: string
  readonly received: Received[]
  /** How requests to a path are answered; 200 unless told otherwise. */
  answer(path: string, how: Answer): void
  close(): Promise<void>
}

/** A webhook receiver: the outside world, at its wire. */
export async function openSink(): Promise<Sink> {
  const received: Received[] = []
  const answers = new Map<string, Answer>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const got = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      }
      received.push(got)
      const how = answers.get(got.path)
      if (how === undefined) response.writeHead(200).end()
      else how(response, got)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (path, how) => void answers.set(path, how),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

/**
 * A receiver of webhooks that may be copied as it stands. It needs Node 24, `openai` and one setting:
 *
 *   WEBHOOK_SECRET=whsec_... PORT=8080 node webhook-receiver.ts
 *
 * It verifies, drops duplicates, answers before it works, and does the work afterwards.
 */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OpenAI } from 'openai'

/** Events are small; more than this is not one of ours. */
const bodyBytesMax = 1024 * 1024
/** Longer than the 72 hours in which a duplicate can come by itself. */
const rememberMs = 4 * 24 * 60 * 60 * 1_000

const client = new OpenAI({ apiKey: 'not used here', webhookSecret: process.env['WEBHOOK_SECRET'] ?? '' })

/** In real life a table with a unique key, written in the transaction that does the work. */
const seen = new Map<string, number>()

function isNew(webhookId: string): boolean {
  const now = Date.now()
  for (const [id, at] of seen) {
    if (now - at < rememberMs) break
    seen.delete(id)
  }
  if (seen.has(webhookId)) return false
  seen.set(webhookId, now)
  return true
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let event: Awaited<ReturnType<typeof client.webhooks.unwrap>>
  try {
    // The very bytes that came are what is signed: parse nothing before this.
    event = await client.webhooks.unwrap(await readBody(request), request.headers)
  } catch {
    response.writeHead(400).end('not verified')
    return
  }
  const first = isNew(String(request.headers['webhook-id']))
  // First the answer, then the work: whoever takes longer than five seconds is sent the event again.
  response.writeHead(204).end()
  if (first) work(event)
}

function work(event: { type: string; data: object }): void {
  // Put it on a queue of your own here.
  process.stdout.write(`${event.type} ${JSON.stringify(event.data)}\n`)
}

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy())
})
server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})

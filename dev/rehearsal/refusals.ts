import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'

interface Refusal {
  readonly userMessage: string
  readonly refusal: string
}

interface ChatBody {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

export function readRefusals(folder: string): Refusal[] {
  const { refusals } = JSON.parse(readFileSync(join(folder, 'refusals.json'), 'utf8')) as { refusals: Refusal[] }
  return refusals
}

/** The double has no form for a refusal, so those are answered before it. False: the request is left to the double. */
export function refuse(refusals: readonly Refusal[]) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const bytes = Number(request.headers['content-length'] ?? 0)
    const body = bytes > 0 ? readBody(await peek(request, bytes)) : null
    if (body === null) return false
    const asked = JSON.stringify(body.messages.findLast(({ role }) => role === 'user')?.content ?? '').toLowerCase()
    const found = refusals.find(({ userMessage }) => asked.includes(userMessage.toLowerCase()))
    if (found === undefined) return false
    if (body.stream === true) stream(response, body.model, found.refusal)
    else whole(response, body.model, found.refusal)
    return true
  }
}

/** Null for what is no chat: the double says what is wrong with it. */
function readBody(text: string): ChatBody | null {
  try {
    const body = JSON.parse(text) as ChatBody | null
    return Array.isArray(body?.messages) ? body : null
  } catch {
    return null
  }
}

/** Reads a body and puts it back, for whoever reads it next. That must happen before the request knows that it has ended. */
async function peek(request: IncomingMessage, bytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  return await new Promise((resolve, reject) => {
    const read = () => {
      for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read() as Buffer | null) {
        chunks.push(chunk)
        size += chunk.length
      }
      if (size < bytes) return
      request.off('readable', read)
      const body = Buffer.concat(chunks)
      request.unshift(body)
      resolve(body.toString('utf8'))
    }
    request.on('readable', read)
    request.once('error', reject)
  })
}

const head = (model: string) => ({ id: 'chatcmpl-rehearsal', created: Math.floor(Date.now() / 1_000), model })
const usageOf = (text: string) => {
  const words = text.split(' ').length
  return { prompt_tokens: words, completion_tokens: words, total_tokens: 2 * words }
}

function whole(response: ServerResponse, model: string, refusal: string): void {
  const message = { role: 'assistant', content: null, refusal }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const body = { ...head(model), object: 'chat.completion', choices, usage: usageOf(refusal) }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function stream(response: ServerResponse, model: string, refusal: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish: string | null, more: object = {}) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    const chunk = { ...head(model), object: 'chat.completion.chunk', choices, ...more }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  for (const piece of refusal.match(/\S+\s*/g) ?? []) send({ refusal: piece }, null)
  send({}, 'stop', { usage: usageOf(refusal) })
  response.end('data: [DONE]\n\n')
}

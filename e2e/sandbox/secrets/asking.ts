import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { SandboxFleet } from '../sandbox-fleet.ts'

export interface Reply {
  readonly status: number
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface StreamEvent {
  readonly type: string
  readonly response?: { readonly id: string; readonly status: string }
}

const requestMs = 180_000
const lastTypes = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error'])

/** Talks to the API and keeps every byte that it says, headers too. */
export class Asking {
  readonly kept: Buffer[] = []
  readonly #url: string
  readonly #keys: { readonly project: string; readonly admin: string }

  constructor({ stack }: SandboxFleet) {
    this.#url = `http://127.0.0.1:${stack.httpPort}/v1`
    this.#keys = { project: stack.seeded.projectKey, admin: stack.seeded.adminKey }
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await this.#fetch(method, path, body, headers)
    const bytes = Buffer.from(await reply.arrayBuffer())
    this.kept.push(bytes)
    const text = bytes.toString('utf8')
    return { status: reply.status, text, body: text.startsWith('{') ? (JSON.parse(text) as Reply['body']) : {} }
  }

  /** The events of a stream, each told as it comes. */
  async stream(method: string, path: string, body?: unknown): Promise<StreamEvent[]> {
    const reply = await this.#fetch(method, path, body, {})
    const chunks: Buffer[] = []
    for await (const chunk of reply.body ?? []) chunks.push(Buffer.from(chunk))
    const bytes = Buffer.concat(chunks)
    this.kept.push(bytes)
    const lines = bytes.toString('utf8').split('\n')
    return lines
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice('data: '.length)) as StreamEvent)
  }

  /** One frame over a WebSocket, and what comes until a response or an error has ended. */
  async socket(frame: string): Promise<StreamEvent[]> {
    const socket = new WebSocket(`${this.#url.replace('http', 'ws')}/responses`, {
      headers: { authorization: `Bearer ${this.#keys.project}` },
    })
    const events: StreamEvent[] = []
    const ended = new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () => resolve())
      socket.on('message', (data: Buffer) => {
        this.kept.push(data)
        const event = JSON.parse(data.toString('utf8')) as StreamEvent
        events.push(event)
        if (lastTypes.has(event.type)) resolve()
      })
    })
    ended.catch(() => undefined)
    await once(socket, 'open', { signal: AbortSignal.timeout(requestMs) })
    const bound = setTimeout(() => socket.terminate(), requestMs)
    socket.send(frame)
    await ended.finally(() => clearTimeout(bound))
    socket.terminate()
    return events
  }

  async #fetch(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    const key = path.startsWith('/organization') ? this.#keys.admin : this.#keys.project
    const reply = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(requestMs),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    this.kept.push(Buffer.from(`${reply.status} ${JSON.stringify([...reply.headers])}`))
    return reply
  }
}

import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'

/** An event as it came over the wire. */
export interface Said {
  type: string
  stream_id?: string
  sequence_number?: number
  delta?: string
  status?: number
  error?: { type: string; code: string | null; message: string; param: string | null; headers?: unknown }
  response?: {
    id: string
    status: string
    store: boolean
    previous_response_id: string | null
    output: { type: string; id: string; content?: { text: string }[] }[]
  }
  steer?: { input: unknown; previous_response_id: string }
}

const waitMs = 20_000
const lastTypes = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error'])

/** A client that hears every frame, also those that the SDK would hide. */
export class SocketClient {
  readonly socket: WebSocket
  readonly heard: Said[] = []
  readonly closed: Promise<number>
  #taken = new Map<string | undefined, number>()
  readonly #news = new EventEmitter().setMaxListeners(0)

  constructor(t: TestContext, baseUrl: string, key: string) {
    const url = `${baseUrl.replace('http', 'ws')}/v1/responses`
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` }, perMessageDeflate: false })
    this.closed = new Promise((resolve) => this.socket.once('close', resolve))
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data: Buffer) => {
      this.heard.push(JSON.parse(data.toString('utf8')) as Said)
      this.#news.emit('news')
    })
    this.socket.on('close', () => this.#news.emit('news'))
    t.after(() => this.socket.terminate())
  }

  static async open(t: TestContext, app: { baseUrl: string; project: { key: string } }): Promise<SocketClient> {
    const client = new SocketClient(t, app.baseUrl, app.project.key)
    await once(client.socket, 'open')
    return client
  }

  create(fields: Record<string, unknown>): void {
    this.socket.send(JSON.stringify({ type: 'response.create', model: 'double-chat', ...fields }))
  }

  /** The events of the next response of a lane, or the error in its place; each is handed out once. */
  async turn(lane?: string): Promise<Said[]> {
    for (const endsAt = performance.now() + waitMs; performance.now() < endsAt;) {
      const all = this.heard.filter((event) => event.stream_id === lane)
      const from = this.#taken.get(lane) ?? 0
      const last = all.findIndex((event, index) => index >= from && lastTypes.has(event.type))
      if (last >= 0) {
        this.#taken.set(lane, last + 1)
        return all.slice(from, last + 1)
      }
      assert.equal(this.socket.readyState, WebSocket.OPEN, 'the socket closed before the turn ended')
      await once(this.#news, 'news', { signal: AbortSignal.timeout(waitMs) })
    }
    assert.fail('the turn took too long')
  }

  /** Sends a create and waits for its end. */
  async ask(fields: Record<string, unknown>): Promise<Said> {
    this.create(fields)
    const last = (await this.turn(fields['stream_id'] as string | undefined)).at(-1)
    assert.ok(last !== undefined)
    return last
  }
}

export const textOf = (event: Said) =>
  (event.response?.output ?? []).flatMap(({ content = [] }) => content.map(({ text }) => text)).join('')

import type { Dispatcher } from 'undici'
import type { ProviderConfig } from '../../domain/model.ts'
import { ProviderFault } from '../../domain/provider-fault.ts'
import { Deadline } from './deadline.ts'
import { EventReader } from './events.ts'
import { answerBytesMax, refusalBytesMax, type ProviderLimits } from './limits.ts'
import type { OriginPool, ProviderPools } from './pools.ts'
import { faultOfStatus, hung } from './wire-fault.ts'

const leftoverBytesMax = 16 * 1024
const leftoverMs = 1_000

/** Whoever reads the events, and knows which is the last. */
export interface Done {
  readonly done: boolean
}

type Reply = Dispatcher.ResponseData

/**
 * Speaks HTTP to one provider. Its address is the operator's, so it does not pass the guard for addresses that users
 * give; redirects are never followed.
 */
export class ProviderConnection {
  readonly #origin: OriginPool
  readonly #prefix: string
  readonly #headers: Record<string, string>
  readonly #limits: ProviderLimits

  constructor(provider: ProviderConfig, pools: ProviderPools, limits: ProviderLimits) {
    const base = new URL(provider.baseUrl)
    this.#origin = pools.get(base.origin)
    this.#prefix = base.pathname.replace(/\/+$/, '')
    this.#headers = {
      'content-type': 'application/json',
      ...(provider.apiKey === null ? {} : { authorization: `Bearer ${provider.apiKey}` }),
      ...provider.headers,
    }
    this.#limits = limits
  }

  /** Asks for a whole answer and gives its text. */
  async answer(path: string, body: string, signal: AbortSignal): Promise<string> {
    const deadline = new Deadline(this.#limits.answerMs, signal)
    this.#origin.enter()
    try {
      const reply = await this.#send(path, body, deadline.signal)
      return await bodyText(reply, answerBytesMax)
    } catch (err) {
      throw deadline.meaning(err)
    } finally {
      deadline.end()
      this.#origin.leave()
    }
  }

  /** Asks for a stream and gives the data of its events, as many at a time as have come, until its reader has all. */
  async *events(path: string, body: string, reader: Done, signal: AbortSignal): AsyncGenerator<string[], void, void> {
    const deadline = new Deadline(this.#limits.firstPartMs, signal)
    let reply: Reply | null = null
    const bytesRead = new EventReader()
    this.#origin.enter()
    try {
      reply = await this.#send(path, body, deadline.signal)
      let lastEvent = Date.now()
      // Left undestroyed when the loop is left, so that the connection can be used again.
      for await (const bytes of reply.body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        const events: string[] = []
        bytesRead.push(bytes, events)
        if (events.length > 0) {
          deadline.stopClock()
          lastEvent = Date.now()
          yield events
          if (reader.done) return
        } else if (Date.now() - lastEvent > this.#limits.idleMs + this.#limits.firstPartMs) {
          // Comments keep a connection alive, but they are no answer.
          throw hung()
        }
      }
      const last: string[] = []
      bytesRead.end(last)
      if (last.length > 0) yield last
    } catch (err) {
      throw deadline.meaning(err)
    } finally {
      deadline.end()
      this.#origin.leave()
      if (reply !== null) letGo(reply, reader.done)
    }
  }

  async #send(path: string, body: string, signal: AbortSignal): Promise<Reply> {
    const reply = await this.#origin.pool.request({
      method: 'POST',
      path: this.#prefix + path,
      headers: this.#headers,
      body,
      signal,
    })
    if (reply.statusCode >= 200 && reply.statusCode < 300) return reply
    throw faultOfStatus(reply.statusCode, reply.headers, await bodyText(reply, refusalBytesMax))
  }
}

/** After the last event only the end of the body is left to read, and then the connection is free for another. */
function letGo({ body }: Reply, done: boolean): void {
  if (body.readableEnded || body.destroyed) return
  body.on('error', () => undefined)
  if (!done) {
    body.destroy()
    return
  }
  let left = leftoverBytesMax
  const late = setTimeout(() => body.destroy(), leftoverMs)
  body.once('close', () => clearTimeout(late))
  body.on('data', (bytes: Buffer) => {
    left -= bytes.length
    if (left < 0) body.destroy()
  })
}

/** By its events: iterating a body of one or two chunks costs more than all else that is done with it. */
function bodyText({ body }: Reply, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const end = () => resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString('utf8'))
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= bytesMax) {
        chunks.push(chunk)
        return
      }
      if (bytesMax === refusalBytesMax) end()
      else reject(new ProviderFault('malformed', 'The model provider sent too long an answer.'))
      body.destroy()
    })
    body.once('end', end)
    body.once('error', reject)
  })
}

import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'

export interface ServerEvent {
  readonly event?: string
  readonly data: unknown
}

/** A reply that is a stream of events. `events` is pulled only as fast as the client reads. */
export class EventStream {
  readonly events: AsyncIterable<ServerEvent>

  constructor(events: AsyncIterable<ServerEvent>) {
    this.events = events
  }
}

const keepAliveMs = 15_000
/** A reader that leaves this much unread is cut: it must not hold memory for others. */
export const eventBacklogBytesMax = 1024 * 1024

export function encodeEvent({ event, data }: ServerEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${JSON.stringify(data)}\n\n`
}

/** Writes the stream to the socket, with a comment every 15 s so that proxies keep the connection. */
export async function sendEvents(reply: FastifyReply, stream: EventStream, signal: AbortSignal): Promise<void> {
  const raw = reply.raw
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  const keepAlive = setInterval(() => {
    if (raw.writableLength > eventBacklogBytesMax) raw.destroy()
    else raw.write(': keep-alive\n\n')
  }, keepAliveMs)
  try {
    for await (const event of stream.events) {
      if (signal.aborted || raw.destroyed) break
      if (!raw.write(encodeEvent(event))) await drained(raw, signal)
    }
    raw.end()
  } catch (error) {
    // The status line is long gone: cutting the connection is the only truthful answer left.
    raw.destroy()
    throw error
  } finally {
    clearInterval(keepAlive)
  }
}

function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done)
      raw.off('close', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    raw.once('drain', done)
    raw.once('close', done)
    signal.addEventListener('abort', done, { once: true })
  })
}

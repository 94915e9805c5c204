import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Log } from '#platform/telemetry/log.ts'
import type { RequestFacts } from './route.ts'

/** One event: its data as a value, or as the JSON text it will be sent as. */
export type ServerEvent =
  | { readonly event?: string; readonly data: unknown }
  | { readonly event?: string; readonly json: string }

/**
 * A reply that is a stream of events. `events` is pulled only as fast as the client reads, and its `return` is called
 * when the client leaves. A generator that waits for something else must watch the request's signal as well.
 */
export class EventStream {
  readonly events: AsyncIterable<ServerEvent>

  constructor(events: AsyncIterable<ServerEvent>) {
    this.events = events
  }
}

export interface EventTimes {
  /** A comment this often, so that proxies keep a quiet connection. */
  readonly keepAliveMs: number
  /** A reader that takes nothing for this long is cut: it must not hold memory and work for ever. */
  readonly stalledMs: number
}

const usualTimes: EventTimes = { keepAliveMs: 15_000, stalledMs: 60_000 }

export function encodeEvent(event: ServerEvent): string {
  const name = event.event === undefined ? '' : `event: ${event.event}\n`
  return `${name}data: ${'json' in event ? event.json : JSON.stringify(event.data)}\n\n`
}

/** Several events without names in one write: what came together goes together. */
export function eventBatch(texts: readonly string[]): ServerEvent {
  return { json: texts.join('\n\ndata: ') }
}

/** Takes over the reply and writes the stream to it. Resolves when it has ended, in whatever way. */
export async function sendEvents(
  reply: FastifyReply,
  stream: EventStream,
  facts: RequestFacts,
  log: Log,
  times: EventTimes = usualTimes,
): Promise<void> {
  const { raw } = reply
  const { signal } = facts
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  const keepAlive = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(': keep-alive\n\n')
  }, times.keepAliveMs)
  try {
    let reading = true
    for await (const event of untilAborted(stream.events, signal)) {
      reading = raw.write(encodeEvent(event)) || (await drained(raw, times.stalledMs))
      if (!reading) break
    }
    if (reading) raw.end()
  } catch (err) {
    log.error({ err, requestId: facts.id }, 'an event stream ended early')
  } finally {
    clearInterval(keepAlive)
    // The status line is long gone: of an error or a stalled reader, cutting is the only truthful answer left.
    if (!raw.writableEnded) raw.destroy()
  }
}

/** The same values, up to the moment the signal aborts; then the source is told at once, even while it is waiting. */
async function* untilAborted<Value>(source: AsyncIterable<Value>, signal: AbortSignal): AsyncGenerator<Value> {
  const values = source[Symbol.asyncIterator]()
  let wake: () => void = () => undefined
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      const pulled = values.next()
      const next = await new Promise<IteratorResult<Value> | null>((resolve, reject) => {
        wake = () => resolve(null)
        pulled.then(resolve, reject)
      })
      if (next === null || next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Not awaited: a source that is waiting for something answers only when that has come.
    values.return?.()?.catch(() => undefined)
  }
}

/** True when the client has read on. */
function drained(raw: ServerResponse, stalledMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (read: boolean) => {
      clearTimeout(timer)
      raw.off('drain', onDrain).off('close', onClose)
      resolve(read)
    }
    const onDrain = () => settle(true)
    const onClose = () => settle(false)
    const timer = setTimeout(onClose, stalledMs)
    raw.once('drain', onDrain).once('close', onClose)
  })
}

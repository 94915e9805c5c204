import type { Valkey } from '#platform/cache/valkey.ts'
import type { Db } from '#platform/db/db.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { listEventsPage, type EventBatch } from '../store/events.ts'
import { isRunning, lookAt } from '../store/running.ts'
import type { ResponsesTables } from '../store/tables.ts'

export interface EventFeedUses {
  readonly db: Db<ResponsesTables>
  readonly valkey: Pick<Valkey, 'subscribe' | 'call'>
  readonly log: Log
  /** In front of the channel's name, so that several stacks can share one Valkey. */
  readonly prefix: string
}

/** One numbered event, as it is sent. */
export interface FeedEvent {
  readonly number: number
  readonly type: string
  readonly json: string
}

/** What a reader holds of the store at once. */
const page = { rowsMax: 50, bytesMax: 262_144 }
/** The store is asked this often what was not announced: a lost announcement delays and loses nothing. */
const askEveryMs = 1_000
/** A longer batch is announced without its events: readers take them from the store, and Valkey carries no weight. */
const announcedBytesMax = 65_536
/** In one question. However many readers wait, the store is asked once for all of them. */
const askedMax = 1_000
/** Announcements that wait for a slow reader; beyond, it reads them from the store instead. */
const waitingMax = { batches: 64, bytes: 262_144 }

interface Reader {
  readonly waiting: EventBatch[]
  /** The number of the last event that it was given. */
  at: number
  /** Something was announced that only the store can tell it. */
  missed: boolean
  /** Null while it is busy. */
  wake: (() => void) | null
}

const ends = new Set(['response.completed', 'response.failed', 'response.incomplete'])

/** Events of background responses for any number of readers: one subscription for all, gaps filled from the store. */
export class EventFeed {
  readonly #use: EventFeedUses
  readonly #readers = new Map<string, Set<Reader>>()
  #end: (() => Promise<void>) | null = null
  #asking = false
  #timer: NodeJS.Timeout | null = null

  constructor(use: EventFeedUses) {
    this.#use = use
  }

  get #channel(): string {
    return `${this.#use.prefix}responses.events`
  }

  /** For the processes that serve readers. */
  get part(): Part {
    return {
      name: 'response events',
      start: async () => {
        this.#end = await this.#use.valkey.subscribe(this.#channel, (message) => this.#hear(message))
      },
      stop: async () => await this.#end?.(),
    }
  }

  /** Tells every process what was stored. Nobody depends on it. */
  announce(batches: readonly EventBatch[]): void {
    if (batches.length === 0) return
    const told = batches.map((batch) => (batch.lines.length > announcedBytesMax ? { ...batch, lines: '' } : batch))
    this.#use.valkey
      .call((client) => client.publish(this.#channel, JSON.stringify(told)))
      .catch((err: unknown) => this.#use.log.debug({ err }, 'stored events were not announced'))
  }

  #hear(message: string): void {
    for (const batch of JSON.parse(message) as EventBatch[]) {
      for (const reader of this.#readers.get(batch.responseId) ?? []) {
        if (batch.lines !== '' && hasRoom(reader)) reader.waiting.push(batch)
        else reader.missed = true
        reader.wake?.()
      }
    }
  }

  /** Every event past a number, in order, each once, until the response has ended. */
  async *read(responseId: string, startingAfter: number, signal: AbortSignal): AsyncGenerator<FeedEvent> {
    const reader: Reader = { waiting: [], at: startingAfter, missed: false, wake: null }
    this.#join(responseId, reader)
    try {
      for (;;) {
        const [next] = reader.waiting
        const batches =
          next !== undefined && next.first <= reader.at + 1 ? [next] : await this.#storedFor(responseId, reader)
        if (batches[0] === next) reader.waiting.shift()
        for (const event of eventsPast(batches, reader.at)) {
          reader.at = event.number
          yield event
          if (ends.has(event.type)) return
        }
        if (signal.aborted) return
        while (reader.waiting[0] !== undefined && reader.waiting[0].last <= reader.at) reader.waiting.shift()
        if (batches.length > 0) continue
        // Announced, but what comes before is not in the store: it was deleted. The store has the last word.
        if (reader.waiting[0] !== undefined && reader.waiting[0].first > reader.at + 1) reader.waiting.length = 0
        if (reader.waiting.length > 0) continue
        if (await this.#ended(responseId, reader.at)) return
        await wait(reader, signal)
      }
    } finally {
      this.#leave(responseId, reader)
    }
  }

  #storedFor(responseId: string, reader: Reader): Promise<EventBatch[]> {
    reader.missed = false
    return this.#stored(responseId, reader.at)
  }

  #stored(responseId: string, at: number): Promise<EventBatch[]> {
    return listEventsPage(this.#use.db, responseId, at, page)
  }

  /** Whether nothing can come any more: it does not run, and nothing was stored since we looked. */
  async #ended(responseId: string, at: number): Promise<boolean> {
    if (await isRunning(this.#use.db, responseId)) return false
    return (await this.#stored(responseId, at)).length === 0
  }

  /** Wakes the readers for whom there is something in the store that nobody announced. */
  async #ask(): Promise<void> {
    const idle = [...this.#readers].filter(([, readers]) => [...readers].some(({ wake }) => wake !== null))
    for (let from = 0; from < idle.length; from += askedMax) {
      const ids = idle.slice(from, from + askedMax).map(([id]) => id)
      for (const { id, running, last } of await lookAt(this.#use.db, ids)) {
        for (const reader of this.#readers.get(id) ?? []) if (!running || (last ?? -1) > reader.at) reader.wake?.()
      }
    }
  }

  async #askInTurn(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      await this.#ask()
    } catch (err) {
      this.#use.log.warn({ err }, 'the event feed could not ask the store')
    } finally {
      this.#asking = false
    }
  }

  #join(responseId: string, reader: Reader): void {
    const readers = this.#readers.get(responseId) ?? new Set()
    readers.add(reader)
    this.#readers.set(responseId, readers)
    this.#timer ??= setInterval(() => void this.#askInTurn(), askEveryMs)
  }

  #leave(responseId: string, reader: Reader): void {
    const readers = this.#readers.get(responseId)
    readers?.delete(reader)
    if (readers?.size === 0) this.#readers.delete(responseId)
    if (this.#readers.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}

function hasRoom({ waiting }: Reader): boolean {
  const bytes = waiting.reduce((sum, { lines }) => sum + lines.length, 0)
  return waiting.length < waitingMax.batches && bytes < waitingMax.bytes
}

/** Until something is announced, the store turns out to have more, or the reader leaves. */
async function wait(reader: Reader, signal: AbortSignal): Promise<void> {
  if (reader.waiting.length > 0 || reader.missed || signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', done)
    reader.wake = done
    function done(): void {
      reader.wake = null
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}

const typeOf = /^\{"type":"([a-z_.]+)"/

function* eventsPast(batches: readonly EventBatch[], at: number): Generator<FeedEvent> {
  for (const { first, lines } of batches) {
    for (const [index, json] of lines.split('\n').entries()) {
      const number = first + index
      if (number > at) yield { number, type: typeOf.exec(json)?.[1] ?? '', json }
    }
  }
}

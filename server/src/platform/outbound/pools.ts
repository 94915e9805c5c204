import { Pool } from 'undici'
import { OutboundRefused } from './refused.ts'

type Entry = { pool: Pool; inFlight: number }

/** What a request holds while it is under way. */
export type Place = { pool: Pool; leave: () => void }

/**
 * One pool of connections per origin, and a place in it for each request under way: bounded in all, and per origin so
 * that one slow target cannot take every place. Pools nobody uses are kept for the next request up to `idleOriginsMax`,
 * then the one unused for longest goes: origins come from users, so there is no end to them. (undici's own Agent was
 * measured to keep a pool for ever when its last request was aborted.)
 */
export function createPools(use: {
  options: Pool.Options
  inFlightMax: number
  inFlightPerOriginMax: number
  idleOriginsMax: number
}) {
  const entries = new Map<string, Entry>()
  const idle = new Map<string, Entry>()
  const closing = new Set<Promise<void>>()
  let inFlight = 0
  let closed = false

  function retire(pool: Pool): void {
    const done: Promise<void> = pool.close().finally(() => closing.delete(done))
    closing.add(done)
  }

  function leave(origin: string, entry: Entry): void {
    inFlight -= 1
    entry.inFlight -= 1
    if (entry.inFlight > 0 || closed) return
    idle.set(origin, entry)
    const oldest = idle.entries().next().value
    if (idle.size <= use.idleOriginsMax || oldest === undefined) return
    idle.delete(oldest[0])
    entries.delete(oldest[0])
    retire(oldest[1].pool)
  }

  /** Takes a place. Throws OutboundRefused `busy` when there is none. */
  function enter(origin: string): Place {
    if (closed) throw new Error('outbound client is closed')
    let entry = entries.get(origin)
    if (inFlight >= use.inFlightMax || (entry?.inFlight ?? 0) >= use.inFlightPerOriginMax) {
      throw new OutboundRefused('busy', 'Too many requests are under way; nothing was sent.')
    }
    if (entry === undefined) {
      entry = { pool: new Pool(origin, use.options), inFlight: 0 }
      entries.set(origin, entry)
    }
    const mine = entry
    idle.delete(origin)
    inFlight += 1
    mine.inFlight += 1
    let left = false
    const leaveOnce = (): void => {
      if (left) return
      left = true
      leave(origin, mine)
    }
    return { pool: mine.pool, leave: leaveOnce }
  }

  async function close(): Promise<void> {
    closed = true
    for (const { pool } of entries.values()) retire(pool)
    entries.clear()
    idle.clear()
    await Promise.all(closing)
  }

  return { enter, close, originCount: () => entries.size }
}

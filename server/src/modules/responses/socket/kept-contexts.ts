import type { StoredItem } from '@switchyard/contracts/responses/items.ts'

/** Contexts of one lane that a next turn may continue. */
export const contextsPerLaneMax = 8
/** Lanes of one socket whose contexts are kept; the one longest unused goes first. */
export const lanesKeptMax = 64
/** Text of all contexts that one socket keeps. */
const socketBytesMax = 32 * 1024 * 1024
/** The same of all sockets of a process together. */
const processBytesMax = 512 * 1024 * 1024

/** The whole of what a response was about: what a next turn continues from. */
export interface KeptContext {
  readonly items: readonly StoredItem[]
  /** False: nobody but this socket knows it. */
  readonly stored: boolean
}

interface Entry extends KeptContext {
  readonly responseId: string
  readonly lane: string
  readonly owner: KeptContexts
}

/** What the sockets of a process keep together, oldest first. */
export class ContextBudget {
  readonly bytesMax: number
  readonly #entries = new Set<Entry>()
  #bytes = 0

  constructor(bytesMax = processBytesMax) {
    this.bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  keep(entry: Entry): void {
    this.#entries.add(entry)
    for (const oldest of this.#entries) {
      if (this.#bytes <= this.bytesMax) return
      oldest.owner.forget(oldest.responseId)
    }
  }

  forget(entry: Entry): void {
    this.#entries.delete(entry)
  }

  grow(bytes: number): void {
    this.#bytes += bytes
  }
}

/**
 * The contexts of one socket, so that its next turn reads no history. Turns of one conversation share their items, so
 * an item counts once however many contexts hold it.
 */
export class KeptContexts {
  readonly #budget: ContextBudget
  readonly #bytesMax: number
  readonly #entries = new Map<string, Entry>()
  /** Response ids by lane, both oldest first. */
  readonly #lanes = new Map<string, Set<string>>()
  readonly #items = new Map<StoredItem, { bytes: number; holders: number }>()
  #bytes = 0

  constructor(budget: ContextBudget, bytesMax = socketBytesMax) {
    this.#budget = budget
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  find(responseId: string): KeptContext | null {
    return this.#entries.get(responseId) ?? null
  }

  keep(lane: string, responseId: string, context: KeptContext): void {
    this.forget(responseId)
    const entry: Entry = { ...context, responseId, lane, owner: this }
    this.#entries.set(responseId, entry)
    const ids = this.#lanes.get(lane) ?? new Set()
    // Moved to the end: it is the lane used last.
    this.#lanes.delete(lane)
    this.#lanes.set(lane, ids.add(responseId))
    for (const item of entry.items) this.#hold(item)
    this.#shrink(ids)
    // Gone already when it alone is more than a socket may keep.
    if (this.#entries.has(responseId)) this.#budget.keep(entry)
  }

  forget(responseId: string): void {
    const entry = this.#entries.get(responseId)
    if (entry === undefined) return
    this.#entries.delete(responseId)
    this.#budget.forget(entry)
    const ids = this.#lanes.get(entry.lane)
    ids?.delete(responseId)
    if (ids?.size === 0) this.#lanes.delete(entry.lane)
    for (const item of entry.items) this.#release(item)
  }

  clear(): void {
    for (const id of this.#entries.keys()) this.forget(id)
  }

  #shrink(ids: Set<string>): void {
    for (const oldest of ids) {
      if (ids.size <= contextsPerLaneMax) break
      this.forget(oldest)
    }
    for (const unused of this.#lanes.values()) {
      if (this.#lanes.size <= lanesKeptMax) break
      for (const id of unused) this.forget(id)
    }
    for (const id of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) break
      this.forget(id)
    }
  }

  #hold(item: StoredItem): void {
    const held = this.#items.get(item)
    if (held !== undefined) {
      held.holders += 1
      return
    }
    const bytes = JSON.stringify(item).length
    this.#items.set(item, { bytes, holders: 1 })
    this.#count(bytes)
  }

  #release(item: StoredItem): void {
    const held = this.#items.get(item)
    if (held === undefined) return
    held.holders -= 1
    if (held.holders > 0) return
    this.#items.delete(item)
    this.#count(-held.bytes)
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#budget.grow(bytes)
  }
}

import { createHash } from 'node:crypto'
import type { Part } from '#platform/lifecycle/module.ts'
import { SchemaPatience } from '../domain/schema-patience.ts'
import type { CheckerOutcome, KnownSchema } from './schema-checker.ts'
import { SchemaCheckers } from './schema-checkers.ts'

export interface ItemSchemaSettings {
  /** How long compiling one schema may take. */
  readonly compileMs?: number
  /** How long checking one item may take. */
  readonly itemMs?: number
  readonly processesMax?: number
  readonly idleMs?: number
  readonly heapMb?: number
  /** Time that the items of one schema may waste before it is set aside. */
  readonly overdrawnMsMax?: number
  readonly asideMs?: number
}

const DEFAULTS = {
  compileMs: 2_000,
  itemMs: 1_000,
  processesMax: 2,
  idleMs: 60_000,
  heapMb: 128,
  overdrawnMsMax: 20_000,
  asideMs: 300_000,
} satisfies Required<ItemSchemaSettings>

const SCHEMA_CHARS_MAX = 256 * 1024
const ITEM_CHARS_MAX = 16 * 1024 * 1024
const MESSAGE_ITEMS_MAX = 500
const MESSAGE_CHARS_MAX = 1024 * 1024
const BLAMED_IN_A_ROW_MAX = 3
/** Tries without any item done before someone is to blame: a process may die of what it did for others before. */
const DEATHS_MAX = 2
/** Each try has twice the time of the one before. */
const ITEM_STARVED_MAX = 4
const COMPILE_STARVED_MAX = 4

/** Where a caller's list of items stands. */
interface Progress {
  next: number
  /** Items before this one go one by one: a process died over them. */
  aloneUntil: number
  deaths: number
  starved: number
}

/**
 * Checks test items against the JSON Schema of their eval. Both come from strangers, so the work is done in processes
 * of its own with limits of time and memory; an item that goes past them has that as its reason.
 */
export class ItemSchemas {
  readonly part: Part
  readonly #checkers: SchemaCheckers
  readonly #patience: SchemaPatience
  readonly #settings: Required<ItemSchemaSettings>

  constructor(settings: ItemSchemaSettings = {}) {
    this.#settings = { ...DEFAULTS, ...settings }
    const { processesMax, idleMs, overdrawnMsMax, asideMs } = this.#settings
    this.#checkers = new SchemaCheckers({ limits: this.#settings, max: processesMax, idleMs })
    this.#patience = new SchemaPatience({ blamedInARowMax: BLAMED_IN_A_ROW_MAX, overdrawnMsMax, asideMs })
    this.part = { name: 'evals.item-schemas', stop: () => this.#checkers.stop() }
  }

  /** Why the schema cannot be used, or null. */
  async refusal(schema: unknown): Promise<string | null> {
    const known = knownSchema(schema)
    if (typeof known === 'string') return known
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#checkers.run(known, [], 2 ** (tries - 1))
      if (outcome.kind === 'checked') return null
      if (outcome.kind === 'refused') return outcome.reason
      if (tries >= triesMax(outcome)) return this.#compileReason(outcome)
    }
  }

  /** One reason or null per item, in order. Throws nothing for what items or schema do. */
  async check(schema: Record<string, unknown>, items: readonly unknown[]): Promise<(string | null)[]> {
    const known = knownSchema(schema)
    if (typeof known === 'string') return items.map(() => unusable(known))
    const reasons: (string | null)[] = items.map(() => null)
    const at: Progress = { next: 0, aloneUntil: 0, deaths: 0, starved: 0 }
    while (at.next < items.length) {
      const aside = this.#patience.asideFor(known.id, performance.now())
      if (aside !== null) return reasons.fill(aside, at.next)
      const message = pack(items, at.next, at.next < at.aloneUntil ? 1 : MESSAGE_ITEMS_MAX)
      if (message.unfit !== null) {
        reasons[at.next] = message.unfit
        at.next += 1
        continue
      }
      const outcome = await this.#checkers.run(known, message.texts, 2 ** at.starved)
      if (outcome.kind === 'refused') return reasons.fill(unusable(outcome.reason), at.next)
      this.#advance(known, at, reasons, { outcome, items: message.texts.length, chars: message.chars })
    }
    return reasons
  }

  #advance(
    known: KnownSchema,
    at: Progress,
    reasons: (string | null)[],
    went: { outcome: Exclude<CheckerOutcome, { kind: 'refused' }>; items: number; chars: number },
  ): void {
    const { outcome, chars } = went
    const done = outcome.kind === 'checked' ? outcome.reasons : []
    for (const reason of done) {
      reasons[at.next] = reason
      at.next += 1
    }
    this.#patience.used(known.id, { tookMs: spentMs(outcome), items: done.length, chars }, performance.now())
    if (done.length > 0) Object.assign(at, { deaths: 0, starved: 0 })
    if (outcome.kind === 'checked' && outcome.stopped === null) return

    // Which of several items a process died over it cannot tell; alone they show.
    if (outcome.kind === 'died' && outcome.during === 'check' && went.items > 1) {
      at.aloneUntil = at.next + went.items
      return
    }
    if (outcome.kind === 'died') at.deaths += 1
    else at.starved += 1
    const tries = outcome.kind === 'died' ? at.deaths : at.starved
    if (tries < triesMax(outcome)) return
    Object.assign(at, { deaths: 0, starved: 0 })
    if (isOfCompiling(outcome)) {
      this.#patience.setAside(known.id, unusable(this.#compileReason(outcome)), performance.now())
      return
    }
    const reason = this.#itemReason(outcome)
    reasons[at.next] = reason
    at.next += 1
    this.#patience.blamed(known.id, reason, performance.now())
  }

  #itemReason(outcome: CheckerOutcome): string {
    if (outcome.kind !== 'died') return `item took longer than ${this.#settings.itemMs} ms to check against the schema`
    return `item took more than ${this.#settings.heapMb} MB of memory or too long to check against the schema`
  }

  #compileReason(outcome: CheckerOutcome): string {
    if (outcome.kind !== 'died') return `the schema takes longer than ${this.#settings.compileMs} ms to compile`
    return `the schema takes more than ${this.#settings.heapMb} MB of memory or too long to compile`
  }
}

/** What the items themselves used: not how long they waited for a checker, nor for the processor. */
function spentMs(outcome: CheckerOutcome): number {
  if (outcome.kind === 'checked') return outcome.usedMs
  return outcome.kind === 'died' ? outcome.afterMs : 0
}

const unusable = (reason: string) => `item was not checked: the item schema cannot be used: ${reason}`

const isOfCompiling = (outcome: CheckerOutcome) =>
  outcome.kind === 'compile_stopped' || (outcome.kind === 'died' && outcome.during === 'compile')

function triesMax(outcome: CheckerOutcome): number {
  if (outcome.kind === 'died') return DEATHS_MAX
  if (!('stopped' in outcome) || outcome.stopped !== 'starved') return 1
  return outcome.kind === 'checked' ? ITEM_STARVED_MAX : COMPILE_STARVED_MAX
}

/** The schema as it is sent, or why it cannot be. */
function knownSchema(schema: unknown): KnownSchema | string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'the schema is not a JSON object'
  const text = jsonOf(schema)
  if (text === null) return 'the schema is nested too deeply'
  if (text.length > SCHEMA_CHARS_MAX) return `the schema is longer than ${SCHEMA_CHARS_MAX} characters`
  return { id: createHash('sha256').update(text).digest('base64url'), text }
}

/** As many items from here as fit into one message; `unfit` when the first one can never be sent. */
function pack(
  items: readonly unknown[],
  from: number,
  max: number,
): { texts: string[]; chars: number; unfit: string | null } {
  const texts: string[] = []
  let chars = 0
  for (const item of items.slice(from, from + max)) {
    const text = jsonOf(item)
    const unfit = text === null ? 'item is nested too deeply, or is not JSON' : null
    const long =
      text !== null && text.length > ITEM_CHARS_MAX ? `item is longer than ${ITEM_CHARS_MAX} characters` : null
    if (texts.length === 0 && (unfit ?? long) !== null) return { texts, chars, unfit: unfit ?? long }
    if (text === null || long !== null || (texts.length > 0 && chars + text.length > MESSAGE_CHARS_MAX)) break
    texts.push(text)
    chars += text.length
  }
  return { texts, chars, unfit: null }
}

/** Null for what JSON cannot hold and for what is nested past the stack. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null
  } catch {
    return null
  }
}

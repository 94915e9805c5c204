interface Account {
  /** Time used beyond what its items may use, paid back by quick ones. */
  overdrawnMs: number
  blamedInARow: number
  asideUntilMs: number
  reason: string
}

export interface PatienceLimits {
  /** Items of one schema that may be blamed one after another before the rest is not tried. */
  readonly blamedInARowMax: number
  readonly overdrawnMsMax: number
  /** How long a schema is not tried again. */
  readonly asideMs: number
}

const ITEM_MS = 2
const SLICE_MS = 50
const CHARS_PER_MS = 10_000
const ACCOUNTS_MAX = 1_000
const TOO_SLOW = 'item was not checked: items before it took too long to check against the schema'

/**
 * How much time the items of one schema may waste. A schema that makes a hundred thousand items take a second each is
 * set aside after the first few, for a while; one whose items are merely large is not.
 */
export class SchemaPatience {
  readonly #limits: PatienceLimits
  readonly #accounts = new Map<string, Account>()

  constructor(limits: PatienceLimits) {
    this.#limits = limits
  }

  /** Why items of this schema are not checked at the moment, or null. */
  asideFor(schemaId: string, nowMs: number): string | null {
    const account = this.#accounts.get(schemaId)
    return account !== undefined && nowMs < account.asideUntilMs ? account.reason : null
  }

  /** So long was spent on so many items. Sets the schema aside when it was too long for too many. */
  used(schemaId: string, work: { tookMs: number; items: number; chars: number }, nowMs: number): void {
    const account = this.#accountOf(schemaId)
    const allowedMs = SLICE_MS + work.items * ITEM_MS + work.chars / CHARS_PER_MS
    account.overdrawnMs = Math.max(0, account.overdrawnMs + work.tookMs - allowedMs)
    if (work.items > 0) account.blamedInARow = 0
    if (account.overdrawnMs >= this.#limits.overdrawnMsMax) this.setAside(schemaId, TOO_SLOW, nowMs)
  }

  /** An item was blamed. Sets the schema aside when that was one too many. */
  blamed(schemaId: string, reason: string, nowMs: number): void {
    const account = this.#accountOf(schemaId)
    account.blamedInARow += 1
    if (account.blamedInARow >= this.#limits.blamedInARowMax) this.setAside(schemaId, reason, nowMs)
  }

  setAside(schemaId: string, reason: string, nowMs: number): void {
    this.#accounts.delete(schemaId)
    const account = this.#accountOf(schemaId)
    account.asideUntilMs = nowMs + this.#limits.asideMs
    account.reason = reason
  }

  /** The account, as the most recently used one. */
  #accountOf(schemaId: string): Account {
    const account = this.#accounts.get(schemaId) ?? { overdrawnMs: 0, blamedInARow: 0, asideUntilMs: 0, reason: '' }
    this.#accounts.delete(schemaId)
    this.#accounts.set(schemaId, account)
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size > ACCOUNTS_MAX && oldest !== undefined) this.#accounts.delete(oldest)
    return account
  }
}

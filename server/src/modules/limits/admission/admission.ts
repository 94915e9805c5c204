import type { Passage } from '#platform/http/gate.ts'
import type { Tokens } from '../domain/cost.ts'
import type { LimitedModel } from '../domain/limits-book.ts'

/** Whom a request is charged to. */
export interface Charged {
  readonly orgId: string
  readonly projectId: string
  readonly keyId: string
  readonly requestId: string
}

export interface Settling {
  settle(charged: Charged, reservationId: string, model: LimitedModel | null, used: readonly Tokens[]): void
  release(charged: Charged, reservationId: string): void
}

/** A request that was let in, with what it reserved. Settled or released once; what comes later changes nothing. */
export class Admission implements Passage {
  readonly charged: Charged
  readonly headers: Readonly<Record<string, string>>
  readonly #model: LimitedModel | null
  readonly #settling: Settling | null
  #open = true

  /** Without `settling` nothing was reserved: there are no limits. */
  constructor(
    charged: Charged,
    headers: Readonly<Record<string, string>>,
    model: LimitedModel | null,
    settling: Settling | null,
  ) {
    this.charged = charged
    this.headers = headers
    this.#model = model
    this.#settling = settling
  }

  /** Whether anything was reserved. */
  get limited(): boolean {
    return this.#settling !== null
  }

  /** It used this much. With nothing used, what it reserved is given back. */
  settle(used: readonly Tokens[]): void {
    if (!this.#open) return
    this.#open = false
    if (used.length === 0) this.#settling?.release(this.charged, this.charged.requestId)
    else this.#settling?.settle(this.charged, this.charged.requestId, this.#model, used)
  }

  /** Somebody else settles it: the engine carries the work out. */
  handOver(): void {
    this.#open = false
  }

  leave(): void {
    this.settle([])
  }
}

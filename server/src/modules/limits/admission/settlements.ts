import { CacheUnavailable } from '#platform/cache/valkey.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { costNanos, type Tokens } from '../domain/cost.ts'
import type { LimitedModel } from '../domain/limits-book.ts'
import { spendFields } from '../domain/month.ts'
import type { DecisionLog } from '../steps/decision-log.ts'
import type { Charged, Settling } from './admission.ts'
import { readSettled } from './reservation.ts'
import type { ValkeyBuckets } from './valkey-buckets.ts'

export interface SettlementsUses {
  readonly buckets: ValkeyBuckets
  readonly decisions: DecisionLog
  readonly log: Log
  /** Token buckets are corrected to what was used; otherwise their charge stands. */
  readonly settlesTokens: boolean
}

interface Due {
  readonly charged: Charged
  readonly id: string
  readonly tokens: number
  readonly nanos: number
  readonly release: boolean
  /** When it was in the ledger. */
  readonly writtenAt: number
  /** Nothing that was sent before can have been carried out. */
  readonly sure: boolean
}

const retryEveryMs = 1_000
/** Settlements that wait for Valkey. Beyond it they are left to the sweep, which reads the ledger. */
const waitingMax = 10_000
const sendsAtOnce = 64

/** Settles and releases reservations, once each. Nobody waits for it; while Valkey is away it waits itself. */
export class Settlements implements Settling {
  readonly #use: SettlementsUses
  readonly #waiting: Due[] = []
  readonly #sending = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(use: SettlementsUses) {
    this.#use = use
  }

  settle(charged: Charged, id: string, model: LimitedModel | null, used: readonly Tokens[]): void {
    const tokens = used.reduce((sum, { input, output }) => sum + input + output, 0)
    const nanos = model === null ? 0 : used.reduce((sum, one) => sum + costNanos(model, one), 0)
    this.#send({ charged, id, tokens, nanos, release: false, writtenAt: performance.now(), sure: true })
  }

  release(charged: Charged, id: string): void {
    this.#send({ charged, id, tokens: 0, nanos: 0, release: true, writtenAt: performance.now(), sure: true })
  }

  /** What was used without a reservation: a batch. */
  spent(charged: Charged, nanos: number): void {
    const { buckets, log } = this.#use
    const spend = buckets.spend(charged.orgId, spendFields(charged.projectId), nanos)
    this.#track(spend.catch((err: unknown) => log.warn({ err }, 'spend is counted again from the ledger')))
  }

  readonly part: Part = {
    name: 'limit settlements',
    start: async () => {
      this.#timer = setInterval(() => this.#again(), retryEveryMs)
    },
    drain: () => this.idle(),
    stop: async () => {
      clearInterval(this.#timer)
      await this.idle()
    },
  }

  /** Resolves when everything that could be settled is. */
  async idle(): Promise<void> {
    await Promise.all(this.#sending)
  }

  #again(): void {
    for (const due of this.#waiting.splice(0, sendsAtOnce)) this.#send(due)
  }

  #send(due: Due): void {
    this.#track(this.#carryOut(due))
  }

  #track(work: Promise<void>): void {
    this.#sending.add(work)
    void work.finally(() => this.#sending.delete(work))
  }

  async #carryOut(due: Due): Promise<void> {
    const { buckets, log } = this.#use
    const { charged, id, release } = due
    try {
      const held = release ? await buckets.release(charged.orgId, id) : await this.#settle(due)
      if (held !== null) this.#note(due, held)
    } catch (err) {
      if (!(err instanceof CacheUnavailable)) log.error({ err, requestId: id }, 'a reservation could not be settled')
      // Without a cause it was not even sent.
      else if (this.#waiting.length < waitingMax)
        this.#waiting.push({ ...due, sure: due.sure && err.cause === undefined })
    }
  }

  async #settle({ charged, id, tokens, nanos, writtenAt, sure }: Due): Promise<string | null> {
    const { buckets, settlesTokens } = this.#use
    // The reservation went down with Valkey, or was made without it: what was spent counts all the same.
    const spent = { writtenAgoMs: performance.now() - writtenAt, fields: spendFields(charged.projectId) }
    return await buckets.settle(
      charged.orgId,
      id,
      settlesTokens ? tokens : null,
      nanos,
      sure && nanos > 0 ? spent : null,
    )
  }

  #note({ charged, id, tokens, nanos, release }: Due, held: string): void {
    const { requestId, orgId, projectId } = charged
    const detail = { reservation: id, ...readSettled(held), ...(release ? {} : { tokens, cost_nanos: nanos }) }
    const kind = release ? 'released' : 'settled'
    this.#use.decisions.note({ at: new Date(), requestId, orgId, projectId, kind, detail })
  }
}

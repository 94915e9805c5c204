import type { Valkey, ValkeyScript } from '#platform/cache/valkey.ts'
import { isTakenAlways, type Bucket } from '../domain/buckets.ts'
import type { Verdict } from '../domain/verdict.ts'
import { holderText, readOpen, settledText, type Holder, type OpenReservation } from './reservation.ts'
import { addScript, admitScript, openScript, settleScript } from './scripts.ts'

/** An organisation that nobody has heard of for so long starts anew. Longer than any bucket takes to empty itself. */
const hashSeconds = 2 * 86_400
/** A promise of a slot beyond this is not kept track of, and no SDK waits longer. */
const slotMsMax = 60_000
/** Slots are promised at least a tenth wider apart than the bucket gives them out; coming a little late keeps the order. */
const jitterShare = 0.05
const jitterMsMax = 1_000
const openPage = 1_000
const organizationsPage = 1_000

type Decided = [admitted: number, at: number, waitMs: number, levels: string, clockMicros: string]

export interface Reservation {
  readonly id: string
  readonly holder: Holder
}

/** A bucket, and how much more of it was used. */
export interface Used extends Pick<Bucket, 'field' | 'limit' | 'periodMs'> {
  readonly amount: number
}

/** What a hash is made of when there is none. */
export interface Beginning {
  /** Buckets were lost with the cache: those of a minute start with nothing left. */
  readonly lost: boolean
  readonly levels: readonly { readonly field: string; readonly level: number }[]
  readonly open: readonly { readonly id: string; readonly holder: Holder; readonly buckets: readonly Bucket[] }[]
}

/** The buckets that all processes share. Every method throws CacheUnavailable while Valkey is away. */
export class ValkeyBuckets {
  readonly #valkey: Valkey
  readonly #prefix: string
  readonly #admit: ValkeyScript
  readonly #settle: ValkeyScript
  readonly #add: ValkeyScript
  readonly #open: ValkeyScript
  readonly #random: () => number

  constructor(valkey: Valkey, prefix: string, random: () => number = Math.random) {
    this.#valkey = valkey
    this.#prefix = `${prefix}limits:`
    this.#admit = valkey.script('limits.admit', admitScript)
    this.#settle = valkey.script('limits.settle', settleScript)
    this.#add = valkey.script('limits.add', addScript)
    this.#open = valkey.script('limits.open', openScript)
    this.#random = random
  }

  /** Braces: all keys of an organisation live on one node of a cluster. */
  #key(orgId: string): string {
    return `${this.#prefix}{${orgId}}`
  }

  /** Null: the organisation has no hash yet. `again`: the reservation is open already. */
  async admit(
    orgId: string,
    { id, holder }: Reservation,
    buckets: readonly Bucket[],
  ): Promise<Verdict | 'again' | null> {
    const args: (string | number)[] = [id, holderText(holder), settledText(buckets), hashSeconds]
    for (const { field, limit, periodMs, cost, metric } of buckets) {
      args.push(field, limit, periodMs * 1_000, cost, isTakenAlways(metric) ? '1' : '0')
    }
    const reply = (await this.#admit([this.#key(orgId)], args)) as string | Decided
    if (reply === 'new') return null
    if (reply === 'again') return 'again'
    const [admitted, at, waitMs, levels, clockMicros] = reply as Decided
    const binding = at === 0 ? null : (buckets[at - 1] ?? null)
    return {
      admitted: admitted === 1,
      buckets,
      before: levels.split(' ').map(Number),
      binding,
      clockMicros: Number(clockMicros),
      retryAfterMs: binding === null || waitMs < 0 ? null : this.#comeBack(binding, waitMs),
    }
  }

  #comeBack({ cost, periodMs, limit }: Bucket, waitMs: number): number {
    // Beyond what is kept track of, everyone comes back at another time, and is told a slot then.
    if (waitMs > slotMsMax) return Math.round(slotMsMax * (0.8 + 0.2 * this.#random()))
    return Math.round(waitMs + this.#random() * Math.min(jitterMsMax, (jitterShare * cost * periodMs) / limit))
  }

  /** What the reservation held; null when it is not open any more. Tokens null: their charge stands. */
  async settle(orgId: string, id: string, tokens: number | null, spendNanos: number): Promise<string | null> {
    const args = [id, 'settle', tokens === null ? '' : tokens, spendNanos]
    return (await this.#settle([this.#key(orgId)], args)) as string | null
  }

  async release(orgId: string, id: string): Promise<string | null> {
    return (await this.#settle([this.#key(orgId)], [id, 'release', '', 0])) as string | null
  }

  /** Counts what was used without a reservation. */
  async add(orgId: string, used: readonly Used[]): Promise<void> {
    await this.#add(
      [this.#key(orgId)],
      used.flatMap(({ field, limit, periodMs, amount }) => [field, limit, periodMs * 1_000, amount]),
    )
  }

  async spend(orgId: string, fields: readonly string[], nanos: number): Promise<void> {
    await this.add(
      orgId,
      fields.map((field) => ({ field, limit: 0, periodMs: 0, amount: nanos })),
    )
  }

  async open(orgId: string, { lost, levels, open }: Beginning): Promise<void> {
    const args: (string | number)[] = [lost ? '1' : '0', hashSeconds, levels.length]
    for (const { field, level } of levels) args.push(field, level)
    for (const { id, holder, buckets } of open) args.push(id, `${holderText(holder)}|${settledText(buckets)}`)
    await this.#open([this.#key(orgId)], args)
  }

  /** Says that the organisation has reservations that somebody should look after. */
  async noteOrganization(orgId: string): Promise<void> {
    await this.#valkey.call((client) => client.zadd(`${this.#prefix}organizations`, Date.now(), orgId))
  }

  async listOrganizations(cursor: string): Promise<{ cursor: string; noted: { orgId: string; at: number }[] }> {
    const key = `${this.#prefix}organizations`
    const [next, found] = await this.#valkey.call((client) => client.zscan(key, cursor, 'COUNT', organizationsPage))
    const noted: { orgId: string; at: number }[] = []
    for (let at = 0; at + 1 < found.length; at += 2) noted.push({ orgId: found[at] ?? '', at: Number(found[at + 1]) })
    return { cursor: next, noted }
  }

  /** Nothing of it is open, and it was not noted since. */
  async forgetOrganization(orgId: string, notedAt: number): Promise<void> {
    const key = `${this.#prefix}organizations`
    await this.#valkey.call(async (client) => {
      if (Number(await client.zscore(key, orgId)) === notedAt) await client.zrem(key, orgId)
    })
  }

  async listOpen(orgId: string): Promise<OpenReservation[]> {
    const open: OpenReservation[] = []
    let cursor = '0'
    do {
      const key = this.#key(orgId)
      const [next, found] = await this.#valkey.call((client) =>
        client.hscan(key, cursor, 'MATCH', 'o:*', 'COUNT', openPage),
      )
      for (let at = 0; at + 1 < found.length; at += 2) {
        const one = readOpen((found[at] ?? '').slice(2), found[at + 1] ?? '')
        if (one !== null) open.push(one)
      }
      cursor = next
    } while (cursor !== '0')
    return open
  }

  /** This process holds reservations, and is alive for so long. */
  async beat(node: string, forMs: number): Promise<void> {
    await this.#valkey.call((client) => client.set(`${this.#prefix}node:${node}`, '1', 'PX', forMs))
  }

  async endBeat(node: string): Promise<void> {
    await this.#valkey.call((client) => client.del(`${this.#prefix}node:${node}`))
  }

  async isAlive(node: string): Promise<boolean> {
    return (await this.#valkey.call((client) => client.exists(`${this.#prefix}node:${node}`))) === 1
  }

  /** Milliseconds, by the clock that the buckets are kept by. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.#valkey.call((client) => client.time())
    return Number(seconds) * 1_000 + Number(micros) / 1_000
  }
}

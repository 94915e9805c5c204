import type { ScriptArgument, Valkey, ValkeyScript } from '#platform/cache/valkey.ts'
import { isTakenAlways, type Asker, type Bucket } from '../domain/buckets.ts'
import type { Verdict } from '../domain/verdict.ts'
import { holderText, readOpen, settledText, type Holder, type OpenReservation } from './reservation.ts'
import { addScript, admitScript, openScript, recountScript, settleScript } from './scripts.ts'

/** An organisation that nobody has heard of for so long starts anew. Longer than any bucket takes to empty itself. */
const hashSeconds = 2 * 86_400
/** A promise of a slot beyond this is not kept track of, and no SDK waits longer. */
const slotMsMax = 60_000
/** Slots are promised at least a tenth wider apart than the bucket gives them out; coming a little late keeps the order. */
const jitterShare = 0.05
const jitterMsMax = 1_000
const openPage = 1_000
const organizationsPage = 1_000

const numberBytes = 8
/** Of the answer to a request, what stands before the levels: admitted, bucket that bound, milliseconds to wait. */
const answerHead = 3

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
  readonly #recount: ValkeyScript
  readonly #random: () => number

  constructor(valkey: Valkey, prefix: string, random: () => number = Math.random) {
    this.#valkey = valkey
    this.#prefix = `${prefix}limits:`
    this.#admit = valkey.script('limits.admit', admitScript, 'bytes')
    this.#settle = valkey.script('limits.settle', settleScript)
    this.#add = valkey.script('limits.add', addScript)
    this.#open = valkey.script('limits.open', openScript)
    this.#recount = valkey.script('limits.recount', recountScript)
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
    asker: Asker = 'request',
  ): Promise<Verdict | 'again' | null> {
    const numbers = numbersOf(buckets, asker)
    const args: ScriptArgument[] = [id, holderText(holder), settledText(buckets), hashSeconds, numbers]
    for (const { field } of buckets) args.push(field)
    const reply = (await this.#admit([this.#key(orgId)], args)) as Buffer
    if (reply.length < numberBytes) return reply.toString('latin1') === 'new' ? null : 'again'
    const at = reply.readDoubleLE(numberBytes)
    const waitMs = reply.readDoubleLE(2 * numberBytes)
    const before = buckets.map((_bucket, index) => reply.readDoubleLE((answerHead + index) * numberBytes))
    const binding = at === 0 ? null : (buckets[at - 1] ?? null)
    return {
      admitted: reply.readDoubleLE(0) === 1,
      buckets,
      before,
      binding,
      clockMicros: reply.readDoubleLE((answerHead + buckets.length) * numberBytes),
      retryAfterMs: binding === null || waitMs < 0 ? null : this.#comeBack(binding, waitMs, before[at - 1] ?? 0),
    }
  }

  #comeBack({ cost, periodMs, limit }: Bucket, waitMs: number, level: number): number {
    // Beyond what is kept track of, everyone comes back at another time, and is told a slot then: not before there is room.
    if (waitMs > slotMsMax) {
      const roomMs = ((level + cost - limit) * periodMs) / limit
      return Math.round(Math.max(roomMs, slotMsMax * (0.8 + 0.2 * this.#random())))
    }
    return Math.round(waitMs + this.#random() * Math.min(jitterMsMax, (jitterShare * cost * periodMs) / limit))
  }

  /**
   * What the reservation held; null when it is not open. Tokens null: their charge stands. With `unless`, what was spent
   * counts also without a reservation: it went down with an earlier Valkey, or was made without one.
   */
  async settle(
    orgId: string,
    id: string,
    tokens: number | null,
    spendNanos: number,
    unless: { readonly writtenAgoMs: number; readonly fields: readonly string[] } | null = null,
  ): Promise<string | null> {
    const also = unless === null ? [''] : [Math.round(unless.writtenAgoMs * 1_000), ...unless.fields]
    const args = [id, 'settle', tokens === null ? '' : tokens, spendNanos, ...also]
    return (await this.#settle([this.#key(orgId)], args)) as string | null
  }

  async release(orgId: string, id: string): Promise<string | null> {
    return (await this.#settle([this.#key(orgId)], [id, 'release', '', 0, ''])) as string | null
  }

  /** Counts what was used without a reservation, for so long. False: there is no hash to count it in. */
  async add(orgId: string, used: readonly Used[], forMs = 0): Promise<boolean> {
    const counted = used.flatMap(({ field, limit, periodMs, amount }) => [field, limit, periodMs * 1_000, amount])
    return (await this.#add([this.#key(orgId)], [Math.ceil(forMs * 1_000), ...counted])) === 1
  }

  async spend(orgId: string, fields: readonly string[], nanos: number): Promise<void> {
    await this.add(
      orgId,
      fields.map((field) => ({ field, limit: 0, periodMs: 0, amount: nanos })),
    )
  }

  /** False: somebody had just made it. `readAtMs`: when the ledger was about to be read, by Valkey's clock. */
  async open(orgId: string, { lost, levels, open }: Beginning, readAtMs?: number): Promise<boolean> {
    const readAt = readAtMs === undefined ? '' : Math.round(readAtMs * 1_000)
    const args: (string | number)[] = [lost ? '1' : '0', hashSeconds, readAt, levels.length]
    for (const { field, level } of levels) args.push(field, level)
    for (const { id, holder, buckets } of open) args.push(id, `${holderText(holder)}|${settledText(buckets)}`)
    return (await this.#open([this.#key(orgId)], args)) === 1
  }

  /** Days and spend should be counted again. */
  async doubt(orgId: string): Promise<void> {
    await this.add(orgId, [], 1)
  }

  /** Whether days and spend should be counted again: something was counted that the ledger may have had already. */
  async isInDoubt(orgId: string): Promise<boolean> {
    return (await this.#valkey.call((client) => client.hexists(this.#key(orgId), 'r'))) === 1
  }

  /** Sets days and spend to what the ledger had, unless something is open or was changed since. Whether it did. */
  async recount(orgId: string, levels: Beginning['levels'], readAtMs: number): Promise<boolean> {
    // The ledger has the tokens that were used; the charge of tokens that were asked for stands.
    const counted = levels.filter(({ field }) => !/(?:^|:)TPD:/.test(field))
    const args = [Math.round(readAtMs * 1_000), ...counted.flatMap(({ field, level }) => [field, level])]
    return (await this.#recount([this.#key(orgId)], args)) === 1
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

const askers: Readonly<Record<Asker, number>> = { request: 0, work: 1, slot: 2 }

/** Four numbers for each bucket and who asks, as the script unpacks them. */
function numbersOf(buckets: readonly Bucket[], asker: Asker): Buffer {
  const numbers = new Float64Array(4 * buckets.length + 1)
  let at = 0
  for (const { limit, periodMs, cost, metric } of buckets) {
    numbers[at] = limit
    numbers[at + 1] = periodMs * 1_000
    numbers[at + 2] = cost
    numbers[at + 3] = isTakenAlways(metric, asker) ? 1 : 0
    at += 4
  }
  numbers[at] = askers[asker]
  return Buffer.from(numbers.buffer)
}

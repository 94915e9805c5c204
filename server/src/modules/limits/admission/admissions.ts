import { CacheUnavailable } from '#platform/cache/valkey.ts'
import { Fault } from '#platform/errors/fault.ts'
import { sleep } from '#platform/std/clock.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { bucketsOf, type Asker, type Bucket, type Costs, type Policy } from '../domain/buckets.ts'
import { costNanos } from '../domain/cost.ts'
import type { Estimate } from '../domain/estimate-request.ts'
import { groupOf, unknownGroup, type LimitedModel, type LimitsBook } from '../domain/limits-book.ts'
import { monthOf } from '../domain/month.ts'
import { rateHeaders } from '../domain/rate-headers.ts'
import { refusal } from '../domain/refusal.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { DecisionLog } from '../steps/decision-log.ts'
import type { Policies } from '../steps/policies.ts'
import { Admission, type Charged } from './admission.ts'
import type { LocalBuckets } from './local-buckets.ts'
import { backgroundNode, type Holder } from './reservation.ts'
import type { Settlements } from './settlements.ts'
import type { Beginning, ValkeyBuckets } from './valkey-buckets.ts'
import type { Answer } from './work-line.ts'
import { WorkLines } from './work-lines.ts'

export interface AdmissionsUses {
  readonly book: LimitsBook
  readonly findModel: (name: string) => LimitedModel | null
  readonly policies: Policies
  readonly buckets: ValkeyBuckets
  readonly local: LocalBuckets
  /** Without Valkey: `local` limits each process by itself, `refuse` lets nobody in. */
  readonly withoutValkey: 'local' | 'refuse'
  readonly begin: (orgId: string) => Promise<Beginning>
  /** A spend bucket that refused is full only of what is reserved. */
  readonly isReserved: (charged: Charged, spend: Bucket) => Promise<boolean>
  readonly settlements: Settlements
  readonly decisions: DecisionLog
  readonly log: Log
  /** This process. */
  readonly node: string
}

/** More input than this draws on the long-context limits of a group. */
export const longContextTokens = 128_000
const noteOrganizationEveryMs = 60_000
const notedMax = 10_000
/** Buckets that were there so recently and are not any more were lost. */
const lostMs = 120_000
const openTriesMax = 3
const unavailableRetryMs = 1_000
/** How often work asks for spend that others have reserved: nobody knows when they end. */
const reservedRetryMs = 250
/** How long the next turn of a response waits for tokens before the response fails. */
const turnWaitMsMax = 10 * 60_000
const turnTriesMax = 10_000

export interface Asking {
  readonly charged: Charged
  readonly operation: string
  readonly estimate: Estimate
}

/** A later turn of a response that was let in. */
export interface TurnAsking extends Asking {
  readonly turn: number
}

const noTokens: Estimate = { model: null, background: false, inputTokens: 0, outputMax: null, tokens: 0 }

/** Lets requests in, or says why not. */
export class Admissions {
  readonly #use: AdmissionsUses
  readonly #lines = new WorkLines<Admission>()
  readonly #noted = new Map<string, number>()

  constructor(use: AdmissionsUses) {
    this.#use = use
  }

  /** Throws the 429, 403 or 503 of a request that is not let in. */
  async admit({ charged, operation, estimate }: Asking, extra: Partial<Costs> = {}): Promise<Admission> {
    const { policies, settlements } = this.#use
    const policy = await policies.get(charged.orgId, charged.projectId)
    const model = this.#modelOf(estimate)
    if (policy === null) return new Admission(charged, {}, model, null)
    const asked = this.#bucketsFor(policy, charged, model, estimate, { requests: 1, ...extra })
    const node = estimate.background ? backgroundNode : this.#use.node
    const holder = this.#holder(node, charged, operation, model)
    const verdict = await this.#ask(charged, charged.requestId, holder, asked)
    if (verdict === 'again') return new Admission(charged, {}, model, settlements)
    this.#note(charged, operation, estimate, verdict)
    const name = estimate.model ?? unknownGroup
    if (!verdict.admitted) throw refusal(verdict, { ...charged, name })
    return new Admission(charged, rateHeaders(verdict), model, settlements)
  }

  /** Tokens of a later turn: waits for them, and throws only when waiting does not help. */
  async admitTurn(asking: TurnAsking, background: boolean, signal: AbortSignal): Promise<void> {
    const { charged, operation, estimate, turn } = asking
    const policy = await this.#use.policies.get(charged.orgId, charged.projectId)
    if (policy === null) return
    const model = this.#modelOf(estimate)
    const asked = this.#bucketsFor(policy, charged, model, estimate, {})
    const holder = this.#holder(background ? backgroundNode : this.#use.node, charged, operation, model)
    const id = turnReservation(charged.requestId, turn)
    const until = performance.now() + turnWaitMsMax
    try {
      for (let tries = 0; tries < turnTriesMax; tries += 1) {
        const verdict = await this.#ask(charged, id, holder, asked)
        if (verdict === 'again') return
        if (verdict.admitted || tries === 0) this.#note(charged, operation, estimate, verdict)
        if (verdict.admitted) return
        const wait = verdict.retryAfterMs
        if (wait === null || performance.now() + wait > until) {
          throw refusal(verdict, { ...charged, name: estimate.model ?? unknownGroup })
        }
        if (!(await sleep(wait, signal))) throw signal.reason
      }
    } catch (error) {
      // Valkey may have let it in without our hearing of it.
      this.#use.settlements.release(charged, id)
      throw error
    }
    throw new Fault('server_overloaded', 'The turn waited too long for tokens.', { retryAfterMs: unavailableRetryMs })
  }

  /** Work that nobody waits for at a socket: stands in line for what it asks, and throws only when that does not help. */
  async admitWork(asking: Asking, signal: AbortSignal): Promise<Admission> {
    const { charged, estimate } = asking
    const { book, policies, settlements } = this.#use
    signal.throwIfAborted()
    const model = this.#modelOf(estimate)
    const policy = await policies.get(charged.orgId, charged.projectId)
    if (policy === null) return new Admission(charged, {}, model, null)
    const group = model === null ? unknownGroup : groupOf(book, model)
    const line = [charged.orgId, charged.projectId, isLong(estimate), group].join(' ')
    const since = performance.now()
    let unsure = false
    const work = {
      ask: async (asker: Asker) => {
        const answer = await this.#askForWork(asking, asker, since)
        if (answer.is === 'unknown') unsure = true
        return answer
      },
      left: (given: Admission | null) => {
        // Valkey may have let it in without our hearing of it.
        if (given !== null || unsure) settlements.release(charged, charged.requestId)
      },
    }
    return await this.#lines.enter(line, work, signal)
  }

  async #askForWork(asking: Asking, asker: Asker, since: number): Promise<Answer<Admission>> {
    const { charged, operation, estimate } = asking
    const { policies, settlements } = this.#use
    const model = this.#modelOf(estimate)
    const policy = await policies.get(charged.orgId, charged.projectId)
    if (policy === null) return { is: 'in', given: new Admission(charged, {}, model, null) }
    const asked = this.#bucketsFor(policy, charged, model, estimate, { requests: 1 })
    const holder = this.#holder(this.#use.node, charged, operation, model)
    const heard = await this.#ask(charged, charged.requestId, holder, asked, asker).catch(cannotBeChecked)
    if (heard instanceof Fault) return { is: 'unknown', error: heard }
    const waitedMs = Math.round(performance.now() - since)
    if (heard === 'again' || heard.admitted) {
      if (heard !== 'again') this.#note(charged, operation, estimate, heard, { waited_ms: waitedMs })
      return { is: 'in', given: new Admission(charged, {}, model, settlements) }
    }
    const refuse = () => {
      this.#note(charged, operation, estimate, heard, { waited_ms: waitedMs })
      return refusal(heard, { ...charged, name: estimate.model ?? unknownGroup })
    }
    const waitMs = heard.retryAfterMs ?? (await this.#waitForSpend(charged, heard))
    if (waitMs === null) throw refuse()
    const note = () => this.#note(charged, operation, estimate, heard, { waited_ms: waitedMs, waits: true })
    return { is: 'later', waitMs, refuse, note }
  }

  /** Each reserves the most that it can cost: much work at once may reserve more than a month has, and use little of it. */
  async #waitForSpend(charged: Charged, { binding }: Verdict): Promise<number | null> {
    if (binding?.metric !== 'spend') return null
    return (await this.#use.isReserved(charged, binding)) ? reservedRetryMs : null
  }

  /** Buckets that belong to no model: a rule of its own. */
  async admitPlain(charged: Charged, operation: string, name: string, asked: readonly Bucket[]): Promise<Admission> {
    const holder = this.#holder(this.#use.node, charged, operation, null)
    const verdict = await this.#ask(charged, charged.requestId, holder, asked)
    if (verdict === 'again') return new Admission(charged, {}, null, this.#use.settlements)
    this.#note(charged, operation, noTokens, verdict)
    if (!verdict.admitted) throw refusal(verdict, { ...charged, name })
    return new Admission(charged, rateHeaders(verdict), null, this.#use.settlements)
  }

  #modelOf({ model }: Estimate): LimitedModel | null {
    return model === null ? null : this.#use.findModel(model)
  }

  #bucketsFor(
    policy: Policy,
    { projectId }: Charged,
    model: LimitedModel | null,
    estimate: Estimate,
    costs: Partial<Costs>,
  ): Bucket[] {
    const { inputTokens, outputMax, tokens } = estimate
    // The most that the request can cost: what it really costs is known when it is over.
    const most = { input: inputTokens, cached: 0, output: outputMax ?? model?.maxOutputTokens ?? 0 }
    return bucketsOf({
      book: this.#use.book,
      policy,
      projectId,
      group: model === null ? unknownGroup : groupOf(this.#use.book, model),
      long: isLong(estimate),
      month: monthOf(new Date()),
      costs: {
        requests: 0,
        tokens,
        images: 0,
        audioMinutes: 0,
        spendNanos: model === null ? 0 : costNanos(model, most),
        ...costs,
      },
    })
  }

  #holder(node: string, { projectId, keyId }: Charged, operation: string, model: LimitedModel | null): Holder {
    return { node, projectId, keyId, operation, model: encodeURIComponent(model?.id ?? '') }
  }

  async #ask(
    charged: Charged,
    id: string,
    holder: Holder,
    asked: readonly Bucket[],
    asker: Asker = 'request',
  ): Promise<Verdict | 'again'> {
    const { buckets, local, withoutValkey, settlements } = this.#use
    const { orgId } = charged
    try {
      for (let tries = 0; tries < openTriesMax; tries += 1) {
        const verdict = (await this.#bringBack(orgId)) ? await buckets.admit(orgId, { id, holder }, asked, asker) : null
        if (verdict !== null) {
          this.#look(orgId)
          return verdict
        }
        await this.#open(orgId)
      }
    } catch (error) {
      if (!(error instanceof CacheUnavailable)) throw error
      const verdict = withoutValkey === 'local' ? local.admit(orgId, asked, performance.now(), asker) : null
      // Valkey may have let it in without our hearing of it: what is refused here keeps nothing reserved there. A turn
      // and work ask again, and learn of it then.
      const comesAgain = id !== charged.requestId || asker !== 'request'
      if (verdict?.admitted !== true && error.cause !== undefined && !comesAgain) settlements.release(charged, id)
      if (verdict !== null) return verdict
    }
    throw new Fault('server_overloaded', 'Limits cannot be checked right now, and without them nobody is let in.', {
      retryAfterMs: unavailableRetryMs,
    })
  }

  /** What this process let in while Valkey was away counts before anybody else is let in. False: there is no hash yet. */
  async #bringBack(orgId: string): Promise<boolean> {
    const { buckets, local } = this.#use
    const letIn = local.take(orgId)
    if (letIn === null) return true
    const now = performance.now()
    try {
      const counted = await buckets.add(orgId, local.usedOf(letIn, now), now - letIn.since)
      if (!counted) local.giveBack(orgId, letIn)
      return counted
    } catch (error) {
      local.giveBack(orgId, letIn)
      throw error
    }
  }

  /** Makes the buckets from what the ledger has. */
  async #open(orgId: string): Promise<void> {
    const { buckets, begin } = this.#use
    const readAtMs = await buckets.now()
    const beginning = await begin(orgId)
    // What was decided a moment ago may not be written yet.
    const seen = performance.now() - (this.#noted.get(orgId) ?? -Infinity) < lostMs
    const made = await buckets.open(orgId, { ...beginning, lost: beginning.lost || seen }, readAtMs)
    if (made) this.#noted.delete(orgId)
  }

  /** Once a minute: the sweep looks after organisations that were noted. */
  #look(orgId: string): void {
    const now = performance.now()
    if (now - (this.#noted.get(orgId) ?? -Infinity) < noteOrganizationEveryMs) return
    if (this.#noted.size >= notedMax) this.#noted.clear()
    this.#noted.set(orgId, now)
    this.#use.buckets.noteOrganization(orgId).catch((err: unknown) => {
      this.#noted.delete(orgId)
      this.#use.log.warn({ err }, 'an organisation with reservations was not noted')
    })
  }

  #note(
    charged: Charged,
    operation: string,
    estimate: Estimate,
    verdict: Verdict,
    waiting: { readonly waited_ms?: number; readonly waits?: true } = {},
  ): void {
    const { orgId, projectId, requestId } = charged
    const { buckets, before, binding, clockMicros, retryAfterMs } = verdict
    const asked = buckets.map(({ field, level, metric, limit, cost }, at) => ({
      bucket: field,
      level,
      metric,
      limit,
      used_before: before[at] ?? 0,
      requested: cost,
    }))
    const { model, inputTokens, outputMax, tokens } = estimate
    const detail = {
      operation,
      model,
      input_tokens: inputTokens,
      max_output_tokens: outputMax,
      tokens_charged: tokens,
      buckets: asked,
      binding: binding?.field ?? null,
      clock_micros: clockMicros,
      ...(retryAfterMs === null ? {} : { retry_after_ms: retryAfterMs }),
      ...waiting,
    }
    const kind = verdict.admitted ? 'admitted' : 'refused'
    this.#use.decisions.note({ at: new Date(), requestId, orgId, projectId, kind, detail })
  }
}

const isLong = ({ inputTokens }: Estimate): boolean => inputTokens > longContextTokens

/** Whoever waits asks again. */
function cannotBeChecked(error: unknown): Fault {
  if (error instanceof Fault && error.code === 'server_overloaded') return error
  throw error
}

/** The first turn's reservation is named by its request; each later one by its turn as well. */
export const turnReservation = (requestId: string, turn: number): string =>
  turn === 0 ? requestId : `${requestId}/${turn}`

/** The request that a reservation belongs to. */
export const requestOf = (reservationId: string): string => reservationId.split('/', 1)[0] ?? reservationId

import type { LimitsExplanation } from '@switchyard/contracts/organization/limits-explain.ts'
import { durationText } from './duration.ts'

interface DecisionRow {
  readonly at: Date
  readonly project_id: string
  readonly kind: 'admitted' | 'refused' | 'settled' | 'released'
  readonly detail: Readonly<Record<string, unknown>>
}
interface UsageRow extends Omit<LimitsExplanation['usage'][number], 'at'> {
  readonly at: Date
}

type Decided = LimitsExplanation['decisions'][number]
type Settled = LimitsExplanation['settlements'][number]

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

/** What the log of decisions and the ledger have about a request, put together for a person. */
export function explanation(
  requestId: string,
  rows: readonly DecisionRow[],
  usage: readonly UsageRow[],
): LimitsExplanation {
  const decisions = rows.filter(({ kind }) => kind === 'admitted' || kind === 'refused').map(decided)
  const settlements = rows.filter(({ kind }) => kind === 'settled' || kind === 'released').map(settled)
  return {
    object: 'organization.limits.explanation',
    request_id: requestId,
    project_id: rows[0]?.project_id ?? null,
    summary: summaryOf(decisions, settlements, usage),
    decisions,
    settlements,
    usage: usage.map(({ at, ...one }) => ({ ...one, at: seconds(at) })),
  }
}

function decided({ at, kind, detail: { clock_micros: _exactly, waits, ...detail } }: DecisionRow): Decided {
  const told = waits === true ? 'waiting' : kind
  return { retry_after_ms: null, waited_ms: null, ...(detail as object), at: seconds(at), kind: told } as Decided
}

function settled({ at, kind, detail }: DecisionRow): Settled {
  const held = detail as {
    reservation: string
    reserved: { field: string; cost: number }[]
    tokens?: number
    cost_nanos?: number
    by?: string
  }
  return {
    at: seconds(at),
    kind: kind as Settled['kind'],
    reservation: held.reservation,
    reserved: held.reserved.map(({ field, cost }) => ({ bucket: field, amount: cost })),
    tokens: held.tokens ?? null,
    cost_nanos: held.cost_nanos ?? null,
    swept: held.by === 'sweep',
  }
}

/** A shorter wait is the way to Valkey. */
const toldFromMs = 100

function keptOut({ kind, buckets, binding }: Decided): string {
  const says = kind === 'waiting' ? 'Waiting' : 'Refused'
  const bucket = buckets.find(({ bucket: name }) => name === binding)
  if (bucket === undefined) return `${says}.`
  const used = Math.ceil(bucket.used_before)
  return `${says}: ${bucket.metric} of the ${bucket.level} stood at ${used} of ${bucket.limit} (${bucket.bucket}), and the request asked for ${bucket.requested}.`
}

function summaryOf(decisions: readonly Decided[], settlements: readonly Settled[], usage: readonly UsageRow[]): string {
  const admitted = decisions.filter(({ kind }) => kind === 'admitted')
  const kept = decisions.find(({ kind }) => kind === 'refused') ?? decisions[0]
  if (admitted.length === 0 && kept !== undefined) return keptOut(kept)
  const tokens = usage.reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0)
  const charged = admitted.reduce((sum, one) => sum + one.tokens_charged, 0)
  const waitedMs = admitted[0]?.waited_ms ?? 0
  const after = waitedMs < toldFromMs ? '' : ` after waiting ${durationText(waitedMs)}`
  const says = `Admitted${after}, charged ${charged} tokens`
  if (settlements.length === 0) return `${says}; not settled yet.`
  if (usage.length === 0) return `${says}; no model call was made, and what was reserved was given back.`
  return `${says}; ${usage.length} model call${usage.length === 1 ? '' : 's'} used ${tokens}.`
}

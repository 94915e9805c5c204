import type { LimitsExplanation } from '@switchyard/contracts/organization/limits-explain.ts'

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

function decided({ at, kind, detail: { clock_micros: _exactly, ...detail } }: DecisionRow): Decided {
  return { retry_after_ms: null, ...(detail as object), at: seconds(at), kind } as Decided
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

function summaryOf(decisions: readonly Decided[], settlements: readonly Settled[], usage: readonly UsageRow[]): string {
  const refused = decisions.find(({ kind }) => kind === 'refused')
  if (refused !== undefined && decisions.every(({ kind }) => kind === 'refused')) {
    const bucket = refused.buckets.find(({ bucket: name }) => name === refused.binding)
    if (bucket === undefined) return 'Refused.'
    const used = Math.ceil(bucket.used_before)
    return `Refused: ${bucket.metric} of the ${bucket.level} stood at ${used} of ${bucket.limit} (${bucket.bucket}), and the request asked for ${bucket.requested}.`
  }
  const tokens = usage.reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0)
  const charged = decisions.reduce((sum, one) => sum + one.tokens_charged, 0)
  if (settlements.length === 0) return `Admitted, charged ${charged} tokens; not settled yet.`
  if (usage.length === 0)
    return `Admitted, charged ${charged} tokens; no model call was made, and what was reserved was given back.`
  return `Admitted, charged ${charged} tokens; ${usage.length} model call${usage.length === 1 ? '' : 's'} used ${tokens}.`
}

import type { ColumnType } from 'kysely'
import type { EarnedTier, Tier } from '../domain/tiers.ts'

type Timestamp = ColumnType<Date, Date | string, Date | string>
type CreatedAt = ColumnType<Date, Date | undefined, Date>

export interface LimitsTables {
  'limits.organization': {
    org_id: string
    tier: EarnedTier | 'none'
    pinned_tier: Exclude<Tier, 'none'> | null
    opened_at: Timestamp | null
  }
  'limits.payment': {
    id: string
    org_id: string
    amount_cents: number
    currency: string
    reference: string
    paid_at: CreatedAt
  }
  'limits.project_limit': {
    project_id: string
    limit_group: string
    org_id: string
    requests_per_minute: number | null
    requests_per_day: number | null
    tokens_per_minute: number | null
    tokens_per_day: number | null
    images_per_minute: number | null
    audio_minutes_per_minute: number | null
    batch_queue_tokens: number | null
    updated_at: CreatedAt
  }
  'limits.spend_limit': { org_id: string; project_id: string; threshold_cents: number; created_at: CreatedAt }
  'limits.usage': {
    id: string
    at: CreatedAt
    org_id: string
    project_id: string
    key_id: string | null
    request_id: string
    turn: number
    operation: string
    model: string
    batch: boolean
    outcome: 'completed' | 'interrupted'
    input_tokens: number
    cached_tokens: number
    output_tokens: number
    cost_nanos: number
  }
  'limits.decision': {
    id: string
    at: Timestamp
    request_id: string
    org_id: string
    project_id: string
    kind: 'admitted' | 'refused' | 'settled' | 'released'
    detail: ColumnType<unknown, string, never>
  }
}

import type { ColumnType, Generated } from 'kysely'

type Timestamp = ColumnType<Date, Date | string, Date | string>
type CreatedAt = ColumnType<Date, Date | undefined, Date>

export type EndpointStatus = 'active' | 'paused' | 'disabled'
export type Ending = 'delivered' | 'failed' | 'discarded'

export interface WebhooksTables {
  'webhooks.endpoint': {
    id: string
    project_id: string
    name: string
    url: string
    event_types: string[]
    status: Generated<EndpointStatus>
    disabled_reason: string | null
    failing_since: Timestamp | null
    created_at: CreatedAt
    updated_at: CreatedAt
    deleted_at: Timestamp | null
  }
  'webhooks.secret': {
    id: string
    endpoint_id: string
    sealed: string
    hint: string
    created_at: CreatedAt
    active_until: Timestamp | null
  }
  'webhooks.event': { id: string; project_id: string; type: string; created_at: Timestamp; body: string }
  'webhooks.due': {
    endpoint_id: string
    event_id: string
    lane: number
    due_at: Timestamp
    created_at: CreatedAt
    attempts: Generated<number>
    round: Generated<number>
    first_at: Timestamp | null
  }
  'webhooks.lease': { endpoint_id: string; lane: number; holder: string; until: Timestamp }
  'webhooks.attempt': {
    event_id: string
    endpoint_id: string
    number: number
    at: Timestamp
    duration_ms: number
    url: string
    status_code: number | null
    outcome: string
    response_start: string | null
    next_at: Timestamp | null
    ended: Ending | null
  }
}

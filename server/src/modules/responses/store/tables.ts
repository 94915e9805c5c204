import type { ColumnType, Generated } from 'kysely'

type Timestamp = ColumnType<Date, Date | string, Date | string>
type CreatedAt = ColumnType<Date, Date | undefined, Date>
/** Written as text, read as the value. */
type Json<Value> = ColumnType<Value, string, string>

export interface ResponsesTables {
  'responses.response': {
    id: string
    project_id: string
    created_at: CreatedAt
    asked: Json<unknown>
    background: boolean
    previous_id: string | null
    conversation_id: string | null
    ended_status: string | null
    ended_at: Timestamp | null
    error: Json<unknown> | null
    incomplete_reason: string | null
    usage: Json<unknown> | null
  }
  'responses.item': {
    response_id: string
    position: number
    is_output: boolean
    project_id: string
    id: string
    item: Json<unknown>
  }
  'responses.event': { response_id: string; first: number; last: number; lines: string }
  'responses.running': {
    id: string
    project_id: string
    conversation_id: string | null
    background: boolean
    node: string | null
    status: 'queued' | 'in_progress'
    created_at: CreatedAt
    submitted: Generated<boolean>
    step: Generated<number>
    attempt: Generated<number>
    generation: Generated<number>
    stalls: Generated<number>
    moved_at: CreatedAt
    next_number: Generated<number>
    next_output_index: Generated<number>
    usage: Json<unknown> | null
    container_id: string | null
    org_id: string | null
    key_id: string | null
    request_id: string | null
    limited: Generated<boolean>
    batch: Generated<boolean>
    committed_attempt: Generated<number>
  }
  'responses.node': { id: string; alive_until: Timestamp }
  'responses.conversation': {
    id: string
    project_id: string
    created_at: CreatedAt
    metadata: Json<unknown>
    version: Generated<number>
  }
  'responses.conversation_item': { conversation_id: string; position: number; id: string; item: Json<unknown> }
}

import type { ColumnType } from 'kysely'

/** Written as text, read as the value. */
type Json<Value> = ColumnType<Value, string, string>

export interface InferenceTables {
  'inference.completion': {
    id: string
    project_id: string
    created_at: Date
    model: string
    request_id: string
    metadata: Json<Record<string, string>>
    asked: Json<unknown>
    messages: Json<unknown>
    completion: Json<unknown>
    bytes: number
  }
}

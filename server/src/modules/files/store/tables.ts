import type { ColumnType, Generated } from 'kysely'

type Timestamp = ColumnType<Date, Date | string, Date | string>
/** Set by the database unless given. */
type CreatedAt = ColumnType<Date, Date | undefined, Date>

export interface FilesTables {
  'files.file': {
    id: string
    project_id: string
    filename: string
    purpose: string
    bytes: number
    created_at: CreatedAt
    expires_at: Timestamp | null
    ended_at: Timestamp | null
    ended_by: 'deleted' | 'expired' | null
    cleared_at: Timestamp | null
  }
  'files.piece': { file_id: string; position: number; blob: string; bytes: number }
  'files.upload': {
    id: string
    project_id: string
    filename: string
    purpose: string
    mime_type: string
    bytes: number
    file_expires_seconds: number | null
    created_at: CreatedAt
    expires_at: Timestamp
    status: Generated<'pending' | 'completed' | 'cancelled' | 'expired'>
    file_id: string | null
    cleared_at: Timestamp | null
  }
  'files.part': { id: string; upload_id: string; blob: string; bytes: number; created_at: CreatedAt }
}

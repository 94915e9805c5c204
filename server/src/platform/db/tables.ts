import type { ColumnType, Generated } from 'kysely'

type Timestamp = ColumnType<Date, Date | string, Date | string>
/** Set by the database. */
type CreatedAt = ColumnType<Date, Date | undefined, Date>

/** The platform's own schema: machinery shared by all modules. */
export interface PlatformTables {
  'platform.lease': { name: string; holder: string; attempt: number; until: Timestamp }
  'platform.outbox': {
    id: string
    handler: string
    key: string
    input: ColumnType<unknown, string, string>
    due_at: Timestamp
    created_at: CreatedAt
    lease_until: CreatedAt
    tries: Generated<number>
  }
  'platform.idempotency': {
    owner: string
    key: string
    operation: string
    attempt: Generated<number>
    lease_until: Timestamp
    digest: string | null
    status: number | null
    reply: string | null
    expires_at: Timestamp
  }
  'platform.migration': { name: string; sha256: string; applied_at: CreatedAt }
}

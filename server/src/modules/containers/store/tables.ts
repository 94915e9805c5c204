import type { MemoryLimit } from '@switchyard/contracts/containers.ts'
import type { ColumnType, Generated } from 'kysely'
import type { BoxFile, BoxSkill, SecretName } from '../domain/order.ts'

type Timestamp = ColumnType<Date, Date | string, Date | string>
type CreatedAt = ColumnType<Date, Date | undefined, Date>
/** Written as text, read as the value. */
type Json<Value> = ColumnType<Value, string, string>

export type ContainerStatus = 'reserved' | 'active' | 'expired' | 'deleted'

export interface ContainersTables {
  'containers.host': {
    id: string
    url: string
    memory_bytes: number
    accepting: Generated<boolean>
    seen_at: CreatedAt
  }
  'containers.container': {
    id: string
    project_id: string
    org_id: string
    name: string
    status: ContainerStatus
    status_reason: string | null
    response_id: string | null
    memory_limit: MemoryLimit
    memory_bytes: number
    expires_minutes: number
    created_at: CreatedAt
    last_active_at: CreatedAt
    expires_at: Timestamp
    allowed_domains: string[] | null
    secrets: Json<SecretName[]>
    skills: Json<BoxSkill[]>
    files: Json<BoxFile[]>
    inline_blobs: Generated<string[]>
    host_id: string | null
    /** Opened for work of the product itself: no project sees it. */
    private: Generated<boolean>
    cleared_at: Timestamp | null
  }
  'containers.egress_receipt': {
    container_id: string
    id: string
    at: Timestamp
    host: string
    port: number
    verdict: string
    reason: string | null
    bytes_in: number
    bytes_out: number
  }
}

import type {
  AdAccountId,
  AuditLogId,
  InviteId,
  KeyId,
  OrgId,
  ProjectId,
  ServiceAccountId,
  UserId,
} from '@switchyard/contracts/ids.ts'
import type { ColumnType, Kysely } from 'kysely'
import type { KeyKind } from '../domain/key-text.ts'

type Timestamp = ColumnType<Date, Date | string, Date | string>
type OptionalTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** Set by the database. */
type CreatedAt = ColumnType<Date, Date | undefined, Date>

export type OrganizationRole = 'owner' | 'reader'
export type ProjectRole = 'owner' | 'member'
export interface GrantedProject {
  readonly id: ProjectId
  readonly role: ProjectRole
}

interface KeyIdentity {
  id: KeyId
  org_id: OrgId
  project_id: ProjectId | null
  ad_account_id: AdAccountId | null
  kind: KeyKind
  hash: Buffer
  scopes: string[] | null
}

export interface OrgsTables {
  'orgs.organization': { id: OrgId; name: string; region: string | null; created_at: CreatedAt }
  'orgs.project': {
    id: ProjectId
    org_id: OrgId
    name: string
    created_at: CreatedAt
    archived_at: OptionalTimestamp
  }
  'orgs.user': { id: UserId; email: string; name: string; created_at: CreatedAt }
  'orgs.member': { org_id: OrgId; user_id: UserId; role: OrganizationRole; added_at: CreatedAt }
  'orgs.project_member': {
    project_id: ProjectId
    user_id: UserId
    org_id: OrgId
    role: ProjectRole
    added_at: CreatedAt
  }
  'orgs.service_account': {
    id: ServiceAccountId
    org_id: OrgId
    project_id: ProjectId
    name: string
    role: ProjectRole | 'none'
    created_at: CreatedAt
    deleted_at: OptionalTimestamp
  }
  'orgs.invite': {
    id: InviteId
    org_id: OrgId
    email: string
    role: OrganizationRole
    projects: ColumnType<GrantedProject[], string, never>
    created_at: CreatedAt
    expires_at: Timestamp
    accepted_at: OptionalTimestamp
    deleted_at: OptionalTimestamp
  }
  'orgs.ad_account': { id: AdAccountId; org_id: OrgId; created_at: CreatedAt }
  'orgs.api_key': KeyIdentity & {
    name: string
    redacted: string
    user_id: UserId | null
    service_account_id: ServiceAccountId | null
    created_at: CreatedAt
    expires_at: OptionalTimestamp
    revoked_at: OptionalTimestamp
    last_used_at: OptionalTimestamp
    replaced_by: ColumnType<KeyId | null, KeyId | null | undefined, KeyId>
  }
  /** A view: what a key is worth right now. */
  'orgs.key_standing': KeyIdentity & { owner_access: boolean; in_force: boolean }
  'orgs.container_network_policy': {
    org_id: OrgId
    type: 'allowlist' | 'disabled'
    allowed_domains: string[]
    updated_at: Timestamp
  }
  'orgs.audit_log': {
    id: AuditLogId
    org_id: OrgId
    project_id: ProjectId | null
    type: string
    effective_at: CreatedAt
    actor_kind: 'api_key' | 'session' | 'operator'
    actor_key_id: KeyId | null
    actor_user_id: UserId | null
    resource_id: string
    request_id: string | null
    details: ColumnType<Record<string, unknown>, string, never>
  }
}

/** Reads work the same inside a transaction and outside one. */
export type OrgsReader = Kysely<OrgsTables>

/** One page of a list: what comes after an id, and how much of it. */
export interface PageOf {
  readonly after?: string | undefined
  readonly limit: number
}

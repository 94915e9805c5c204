import type { AdAccountId, KeyId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Auth } from '@switchyard/contracts/operation.ts'

interface KeyHolder {
  readonly keyId: KeyId
  readonly orgId: OrgId
}

/** On whose behalf a request is carried out. Stores take it first and filter by it. */
export interface ProjectScope extends KeyHolder {
  readonly kind: 'project_key'
  readonly projectId: ProjectId
}
export interface AdminScope extends KeyHolder {
  readonly kind: 'admin_key'
}
export interface AdsScope extends KeyHolder {
  readonly kind: 'ads_key'
  readonly adAccountId: AdAccountId
}
export type Scope = ProjectScope | AdminScope | AdsScope

export type ScopeOf<A extends Auth> = Extract<Scope, { kind: A }>

export interface Principal {
  readonly scope: Scope
  /** Null: every scope of this kind of key. */
  readonly granted: ReadonlySet<string> | null
}

/** Turns a bearer token into its holder, or null when no such key is in force. */
export type Authenticate = (token: string) => Promise<Principal | null>

import type { InviteId, KeyId, OrgId, ProjectId, ServiceAccountId, UserId } from '@switchyard/contracts/ids.ts'
import type { AuditEventType } from '@switchyard/contracts/organization/audit-logs.ts'
import type { KeyKind } from './key-text.ts'
import type { PolicyChange } from './network-policy.ts'

/** What happened, to what. Details carry names and ids, never a secret. */
export interface AuditEvent {
  readonly type: AuditEventType
  readonly resourceId: string
  readonly projectId?: ProjectId | null
  readonly details: Readonly<Record<string, unknown>>
}

interface KeyFacts {
  readonly id: KeyId
  readonly project_id: ProjectId | null
}

export const organizationCreated = (id: OrgId, name: string): AuditEvent => ({
  type: 'organization.created',
  resourceId: id,
  details: { id, data: { name } },
})

export const organizationUpdated = (id: OrgId, name: string): AuditEvent => ({
  type: 'organization.updated',
  resourceId: id,
  details: { id, changes_requested: { name, title: name } },
})

export const projectCreated = (id: ProjectId, name: string): AuditEvent => ({
  type: 'project.created',
  resourceId: id,
  projectId: id,
  details: { id, data: { name, title: name } },
})

export const projectUpdated = (id: ProjectId, name: string): AuditEvent => ({
  type: 'project.updated',
  resourceId: id,
  projectId: id,
  details: { id, changes_requested: { name, title: name } },
})

export const projectArchived = (id: ProjectId): AuditEvent => ({
  type: 'project.archived',
  resourceId: id,
  projectId: id,
  details: { id },
})

export const keyCreated = (
  key: KeyFacts & { readonly kind: KeyKind; readonly name: string; readonly scopes: readonly string[] | null },
): AuditEvent => ({
  type: 'api_key.created',
  resourceId: key.id,
  projectId: key.project_id,
  details: { id: key.id, data: { kind: key.kind, name: key.name, scopes: key.scopes ?? [] } },
})

export const keyUpdated = (
  key: KeyFacts,
  changes: { scopes?: readonly string[] | undefined; expires_in_seconds?: number | undefined },
): AuditEvent => ({
  type: 'api_key.updated',
  resourceId: key.id,
  projectId: key.project_id,
  details: { id: key.id, changes_requested: changes },
})

export const keyDeleted = (key: KeyFacts): AuditEvent => ({
  type: 'api_key.deleted',
  resourceId: key.id,
  projectId: key.project_id,
  details: { id: key.id },
})

export const keyRotated = (key: KeyFacts, replacedBy: KeyId, overlapSeconds: number): AuditEvent => ({
  type: 'api_key.rotated',
  resourceId: key.id,
  projectId: key.project_id,
  details: { id: key.id, data: { replaced_by: replacedBy, overlap_seconds: overlapSeconds } },
})

export const serviceAccountCreated = (
  account: { readonly id: ServiceAccountId; readonly name: string; readonly role: string },
  projectId: ProjectId,
): AuditEvent => ({
  type: 'service_account.created',
  resourceId: account.id,
  projectId,
  details: { id: account.id, data: { name: account.name, role: account.role } },
})

export const serviceAccountUpdated = (
  id: ServiceAccountId,
  projectId: ProjectId,
  changes: { name?: string | undefined; role?: string | undefined },
): AuditEvent => ({
  type: 'service_account.updated',
  resourceId: id,
  projectId,
  details: { id, changes_requested: changes },
})

export const serviceAccountDeleted = (id: ServiceAccountId, projectId: ProjectId, keysRevoked: number): AuditEvent => ({
  type: 'service_account.deleted',
  resourceId: id,
  projectId,
  details: { id, api_keys_revoked: keysRevoked },
})

/** With a project: added to that project. Without: to the organisation. */
export const userAdded = (id: UserId, role: string, projectId: ProjectId | null): AuditEvent => ({
  type: 'user.added',
  resourceId: id,
  projectId,
  details: { id, data: { role } },
})

export const userUpdated = (id: UserId, role: string, projectId: ProjectId | null): AuditEvent => ({
  type: 'user.updated',
  resourceId: id,
  projectId,
  details: { id, changes_requested: { role } },
})

export const userDeleted = (id: UserId, projectId: ProjectId | null, keysRevoked: number): AuditEvent => ({
  type: 'user.deleted',
  resourceId: id,
  projectId,
  details: { id, api_keys_revoked: keysRevoked },
})

export const inviteSent = (invite: {
  readonly id: InviteId
  readonly email: string
  readonly role: string
}): AuditEvent => ({
  type: 'invite.sent',
  resourceId: invite.id,
  details: { id: invite.id, data: { email: invite.email, role: invite.role } },
})

export const inviteAccepted = (id: InviteId): AuditEvent => ({
  type: 'invite.accepted',
  resourceId: id,
  details: { id },
})

export const inviteDeleted = (id: InviteId): AuditEvent => ({
  type: 'invite.deleted',
  resourceId: id,
  details: { id },
})

export const networkPolicyUpdated = (orgId: OrgId, change: PolicyChange): AuditEvent => ({
  type: 'container_network_policy.updated',
  resourceId: orgId,
  details: { id: orgId, changes: change },
})

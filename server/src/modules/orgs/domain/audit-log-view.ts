import type { AuditEventType, AuditLog } from '@switchyard/contracts/organization/audit-logs.ts'
import type { AuditRow } from '../store/audit-log.ts'
import { seconds } from './seconds.ts'

function actorView(row: AuditRow): AuditLog['actor'] {
  const user =
    row.actor_user_id === null || row.actor_email === null
      ? {}
      : { user: { id: row.actor_user_id, email: row.actor_email } }
  switch (row.actor_kind) {
    case 'api_key':
      return {
        type: 'api_key',
        api_key: { id: row.actor_key_id ?? '', ...('user' in user ? { type: 'user' as const } : {}), ...user },
      }
    case 'session':
      return { type: 'session', session: user }
    case 'operator':
      return null
  }
}

export function auditLogView(row: AuditRow): AuditLog {
  return {
    id: row.id,
    object: 'organization.audit_log',
    type: row.type as AuditEventType,
    effective_at: seconds(row.effective_at),
    actor: actorView(row),
    ...(row.project_id === null ? {} : { project: { id: row.project_id, name: row.project_name ?? '' } }),
    request_id: row.request_id,
    [row.type]: row.details,
  }
}

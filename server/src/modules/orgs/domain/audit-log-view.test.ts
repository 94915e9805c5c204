import type { UserId } from '@switchyard/contracts/ids.ts'
import { AuditLog } from '@switchyard/contracts/organization/audit-logs.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import type { AuditRow } from '../store/audit-log.ts'
import { auditLogView } from './audit-log-view.ts'

const row: AuditRow = {
  id: 'audit_log-1' as AuditRow['id'],
  type: 'project.created',
  effective_at: new Date(1_700_000_000_900),
  actor_kind: 'api_key',
  actor_key_id: 'key_1' as AuditRow['actor_key_id'],
  actor_user_id: null,
  actor_email: null,
  project_id: 'proj_1' as AuditRow['project_id'],
  project_name: 'One',
  request_id: 'req_1',
  details: { id: 'proj_1', data: { name: 'One' } },
}

test('an entry names key and request, and its details stand under its type', () => {
  const view = auditLogView(row)
  assert.deepEqual(view, {
    id: 'audit_log-1',
    object: 'organization.audit_log',
    type: 'project.created',
    effective_at: 1_700_000_000,
    actor: { type: 'api_key', api_key: { id: 'key_1' } },
    project: { id: 'proj_1', name: 'One' },
    request_id: 'req_1',
    'project.created': { id: 'proj_1', data: { name: 'One' } },
  })
  assert.ok(AuditLog.safeParse(view).success)
})

test('the person behind a key or a session is named, and the operator is nobody', () => {
  const user = { actor_user_id: 'user-1' as UserId, actor_email: 'a@example.com' }
  const shown = { id: 'user-1', email: 'a@example.com' }
  assert.deepEqual(auditLogView({ ...row, ...user }).actor, {
    type: 'api_key',
    api_key: { id: 'key_1', type: 'user', user: shown },
  })
  assert.deepEqual(auditLogView({ ...row, ...user, actor_kind: 'session', actor_key_id: null }).actor, {
    type: 'session',
    session: { user: shown },
  })
  assert.equal(auditLogView({ ...row, actor_kind: 'operator', actor_key_id: null }).actor, null)
})

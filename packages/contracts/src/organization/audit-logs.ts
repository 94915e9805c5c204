import { z } from 'zod'
import { AuditLogId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Email, QueryFlag, timestamp } from './shared.ts'

export const auditFilterMax = 50
const idTextMax = 96
const eventTypeMax = 100
/** The last second of the year 9999. */
const secondMax = 253_402_300_799

/** The names the SDKs know, and after them those that only we have. */
export const AuditEventType = z.enum([
  'organization.updated',
  'project.created',
  'project.updated',
  'project.archived',
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'service_account.created',
  'service_account.updated',
  'service_account.deleted',
  'user.added',
  'user.updated',
  'user.deleted',
  'invite.sent',
  'invite.accepted',
  'invite.deleted',
  'rate_limit.updated',
  'rate_limit.deleted',
  'organization.created',
  'api_key.rotated',
  'container_network_policy.updated',
  'payment.created',
  'spend_limit.created',
  'spend_limit.updated',
  'spend_limit.deleted',
  'usage_tier.updated',
])
export type AuditEventType = z.infer<typeof AuditEventType>

const ActorUser = z.strictObject({ id: z.string(), email: z.string() })

/** Null is the operator of the deployment, at the command line, or the deployment itself. */
const Actor = z
  .strictObject({
    type: z.enum(['api_key', 'session']),
    api_key: z
      .strictObject({ id: z.string(), type: z.literal('user').optional(), user: ActorUser.optional() })
      .optional(),
    session: z.strictObject({ user: ActorUser.optional() }).optional(),
  })
  .nullable()

/** The details stand under the name of the event's type. */
export const AuditLog = z
  .object({
    id: AuditLogId,
    object: z.literal('organization.audit_log'),
    type: AuditEventType,
    effective_at: timestamp,
    actor: Actor,
    project: z.strictObject({ id: z.string(), name: z.string() }).optional(),
    request_id: z.string().nullable(),
  })
  .catchall(z.unknown())
export type AuditLog = z.infer<typeof AuditLog>

const ids = z.array(z.string().max(idTextMax)).min(1).max(auditFilterMax).optional()
const bound = z.coerce.number().int().min(0).max(secondMax).optional()

export const listAuditLogs = operation({
  id: 'admin.organization.audit_logs.list',
  method: 'GET',
  path: '/v1/organization/audit_logs',
  summary: 'List who changed what in the organisation, newest first.',
  auth: 'admin_key',
  scope: 'organization.audit_logs.read',
  query: pageQuery().extend({
    before: z.string().max(idTextMax).optional(),
    effective_at: z.strictObject({ gt: bound, gte: bound, lt: bound, lte: bound }).optional(),
    /** Any name the API knows may be asked for; one that never happens here finds nothing. */
    event_types: z
      .array(
        z
          .string()
          .max(eventTypeMax)
          .regex(/^[a-z_]+(\.[a-z_]+)+$/),
      )
      .min(1)
      .max(auditFilterMax)
      .optional(),
    actor_ids: ids,
    actor_emails: z.array(Email).min(1).max(auditFilterMax).optional(),
    project_ids: ids,
    resource_ids: ids,
    tenant_only: QueryFlag,
  }),
  reply: pageOf(AuditLog),
  faults: ['mutually_exclusive_parameters', 'unsupported_value'],
})

export const auditLogOperations = [listAuditLogs] as const

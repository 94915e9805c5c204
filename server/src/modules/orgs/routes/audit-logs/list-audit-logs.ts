import { listAuditLogs } from '@switchyard/contracts/organization/audit-logs.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { auditLogView } from '../../domain/audit-log-view.ts'
import { isAuditCursor, listAudit } from '../../store/audit-log.ts'
import type { OrgsUse } from '../../use.ts'

export const listAuditLogsRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listAuditLogs, async ({ scope, query }) => {
    const { after, before, limit } = query
    if (query.tenant_only) {
      throw new Fault('unsupported_value', 'There are no tenant-scoped events here.', { param: 'tenant_only' })
    }
    if (after !== undefined && before !== undefined) {
      throw new Fault('mutually_exclusive_parameters', "Send 'after' or 'before', not both.", { param: 'before' })
    }
    const cursor = after ?? before
    if (cursor !== undefined && !(await isAuditCursor(use.db.kysely, scope.orgId, cursor))) {
      const param = after === undefined ? 'before' : 'after'
      throw new Fault('invalid_value', `Nothing has the id given in ${param}.`, { param })
    }
    const rows = await listAudit(use.db.kysely, scope.orgId, {
      limit,
      after,
      before,
      effectiveAt: query.effective_at ?? {},
      types: query.event_types,
      actorIds: query.actor_ids,
      actorEmails: query.actor_emails,
      projectIds: query.project_ids,
      resourceIds: query.resource_ids,
    })
    const page = pageView(rows, limit, auditLogView)
    if (before === undefined) return page
    // Read away from the cursor, shown newest first all the same.
    return { ...page, data: page.data.toReversed(), first_id: page.last_id, last_id: page.first_id }
  })

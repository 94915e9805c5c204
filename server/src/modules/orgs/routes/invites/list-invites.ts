import { listInvites } from '@switchyard/contracts/organization/invites.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { route } from '#platform/http/route.ts'
import { inviteView } from '../../domain/invite-view.ts'
import { checkCursor } from '../../steps/check-cursor.ts'
import * as store from '../../store/invites.ts'
import type { OrgsUse } from '../../use.ts'

export const listInvitesRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(listInvites, async ({ scope, query }) => {
    await checkCursor(use.db.kysely, 'orgs.invite', scope.orgId, query.after)
    const rows = await store.listInvites(use.db.kysely, scope.orgId, query)
    return pageView(rows, query.limit, inviteView)
  })

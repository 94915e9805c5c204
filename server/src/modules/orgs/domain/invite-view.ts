import type { Invite } from '@switchyard/contracts/organization/invites.ts'
import type { InviteRow } from '../store/invites.ts'
import { seconds, secondsOrNull } from './seconds.ts'

/** Nothing marks an invite as expired: it is, once its time has passed. */
function statusOf(row: InviteRow): Invite['status'] {
  if (row.accepted_at !== null) return 'accepted'
  return row.expired ? 'expired' : 'pending'
}

export function inviteView(row: InviteRow): Invite {
  return {
    id: row.id,
    object: 'organization.invite',
    email: row.email,
    role: row.role,
    status: statusOf(row),
    projects: row.projects.map(({ id, role }) => ({ id, role })),
    created_at: seconds(row.created_at),
    expires_at: seconds(row.expires_at),
    accepted_at: secondsOrNull(row.accepted_at),
  }
}

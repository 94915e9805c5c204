import type { ProjectUser } from '@switchyard/contracts/organization/project-users.ts'
import type { OrganizationUser } from '@switchyard/contracts/organization/users.ts'
import type { MemberRow } from '../store/members.ts'
import type { ProjectMemberRow } from '../store/project-members.ts'
import { seconds } from './seconds.ts'

export function userView(row: MemberRow): OrganizationUser {
  return {
    id: row.id,
    object: 'organization.user',
    name: row.name,
    email: row.email,
    role: row.role,
    added_at: seconds(row.added_at),
    created: seconds(row.created_at),
    is_service_account: false,
  }
}

export function projectUserView(row: ProjectMemberRow): ProjectUser {
  return {
    id: row.id,
    object: 'organization.project.user',
    name: row.name,
    email: row.email,
    role: row.role,
    added_at: seconds(row.added_at),
  }
}

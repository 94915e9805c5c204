import type { Organization } from '@switchyard/contracts/organization/organization.ts'
import type { OrganizationRow } from '../store/organizations.ts'
import { seconds } from './seconds.ts'

export function organizationView(row: OrganizationRow): Organization {
  return {
    id: row.id,
    object: 'organization',
    name: row.name,
    region: row.region,
    created_at: seconds(row.created_at),
  }
}

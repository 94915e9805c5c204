import type { ServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import type { ServiceAccountRow } from '../store/service-accounts.ts'
import { seconds } from './seconds.ts'

export function serviceAccountView(row: ServiceAccountRow): ServiceAccount {
  return {
    id: row.id,
    object: 'organization.project.service_account',
    name: row.name,
    role: row.role,
    created_at: seconds(row.created_at),
  }
}

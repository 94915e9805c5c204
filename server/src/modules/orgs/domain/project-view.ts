import type { Project } from '@switchyard/contracts/organization/projects.ts'
import type { ProjectRow } from '../store/projects.ts'
import { seconds, secondsOrNull } from './seconds.ts'

export function projectView(row: ProjectRow): Project {
  return {
    id: row.id,
    object: 'organization.project',
    name: row.name,
    created_at: seconds(row.created_at),
    archived_at: secondsOrNull(row.archived_at),
    status: row.archived_at === null ? 'active' : 'archived',
    residency: 'GLOBAL',
    external_key_id: null,
  }
}

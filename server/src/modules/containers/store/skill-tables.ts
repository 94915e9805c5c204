import type { ColumnType, Generated } from 'kysely'

type Timestamp = ColumnType<Date, Date | undefined, Date>

export interface SkillTables {
  'containers.skill': {
    id: string
    project_id: string
    created_at: Generated<Date>
    default_version: number
    latest_version: number
    versions_made: number
    ended_at: Timestamp | null
  }
  'containers.skill_version': {
    id: string
    skill_id: string
    version: number
    name: string
    description: string
    blob: string
    bytes: number
    unpacked_bytes: number
    files: number
    created_at: Generated<Date>
    ended_at: Timestamp | null
    cleared_at: Timestamp | null
  }
}

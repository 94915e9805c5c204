import type { Skill, SkillVersion } from '@switchyard/contracts/skills.ts'
import type { SkillRow, VersionRow } from '../../store/skills.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

export function skillView(row: SkillRow): Skill {
  return {
    id: row.id as Skill['id'],
    object: 'skill',
    created_at: seconds(row.created_at),
    name: row.name,
    description: row.description,
    default_version: String(row.default_version),
    latest_version: String(row.latest_version),
  }
}

export function skillVersionView(row: VersionRow): SkillVersion {
  return {
    id: row.id as SkillVersion['id'],
    object: 'skill.version',
    skill_id: row.skill_id as SkillVersion['skill_id'],
    version: String(row.version),
    name: row.name,
    description: row.description,
    created_at: seconds(row.created_at),
  }
}

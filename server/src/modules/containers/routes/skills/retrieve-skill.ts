import type { ProjectId, SkillId } from '@switchyard/contracts/ids.ts'
import { retrieveSkill } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { skillView } from '../../domain/skills/skill-view.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { findSkill, type SkillRow } from '../../store/skills.ts'

export const noSuchSkill = () => new Fault('not_found', 'No such skill.', { param: 'skill_id' })

export async function getSkill(db: Db<SkillTables>, projectId: ProjectId, id: SkillId): Promise<SkillRow> {
  const row = await findSkill(db, projectId, id)
  if (row === null) throw noSuchSkill()
  return row
}

export const retrieveSkillRoute = (use: { db: Db<SkillTables> }) =>
  route(retrieveSkill, async ({ scope, params }) => skillView(await getSkill(use.db, scope.projectId, params.skill_id)))

import type { ProjectId, SkillId } from '@switchyard/contracts/ids.ts'
import { retrieveSkillVersion } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { skillVersionView } from '../../domain/skills/skill-view.ts'
import { readVersion } from '../../domain/skills/version-choice.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { findVersion, type VersionRow } from '../../store/skills.ts'
import { getSkill } from './retrieve-skill.ts'

export const noSuchVersion = (param = 'version') => new Fault('not_found', 'The skill has no such version.', { param })

/** The version that a path names, or the fault that says what is not there. */
export async function getVersion(
  db: Db<SkillTables>,
  projectId: ProjectId,
  skillId: SkillId,
  text: string,
): Promise<VersionRow> {
  const choice = readVersion(text)
  const row = choice === null ? null : await findVersion(db, projectId, skillId, choice)
  if (row !== null) return row
  await getSkill(db, projectId, skillId)
  throw noSuchVersion()
}

export const retrieveSkillVersionRoute = (use: { db: Db<SkillTables> }) =>
  route(retrieveSkillVersion, async ({ scope, params }) =>
    skillVersionView(await getVersion(use.db, scope.projectId, params.skill_id, params.version)),
  )

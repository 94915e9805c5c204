import { updateSkill } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { skillView } from '../../domain/skills/skill-view.ts'
import { readVersion } from '../../domain/skills/version-choice.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { chooseDefault, lockSkill } from '../../store/skills.ts'
import { noSuchVersion } from './retrieve-skill-version.ts'
import { getSkill, noSuchSkill } from './retrieve-skill.ts'

export const updateSkillRoute = (use: { db: Db<SkillTables> }) =>
  route(updateSkill, async ({ scope, params, body }) => {
    const choice = readVersion(body.default_version)
    if (choice === null) {
      throw new Fault('invalid_value', "A version is a positive integer or 'latest'.", { param: 'default_version' })
    }
    await use.db.tx(async (tx) => {
      const skill = await lockSkill(tx, scope.projectId, params.skill_id)
      if (skill === null) throw noSuchSkill()
      const version = choice === 'latest' ? skill.latest_version : choice
      if (!(await chooseDefault(tx, params.skill_id, version))) throw noSuchVersion('default_version')
    })
    return skillView(await getSkill(use.db, scope.projectId, params.skill_id))
  })

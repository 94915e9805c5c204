import { pageView } from '@switchyard/contracts/page.ts'
import { listSkillVersions } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { skillVersionView } from '../../domain/skills/skill-view.ts'
import { isVersionCursor, listVersions } from '../../store/skill-pages.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { getSkill } from './retrieve-skill.ts'

export const listSkillVersionsRoute = (use: { db: Db<SkillTables> }) =>
  route(listSkillVersions, async ({ scope, params, query: { after, limit, order } }) => {
    await getSkill(use.db, scope.projectId, params.skill_id)
    if (after !== undefined && !(await isVersionCursor(use.db, params.skill_id, after))) {
      throw new Fault('invalid_value', 'No version of the skill with the id given in after.', { param: 'after' })
    }
    return pageView(await listVersions(use.db, params.skill_id, { after, limit, order }), limit, skillVersionView)
  })

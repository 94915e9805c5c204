import { pageView } from '@switchyard/contracts/page.ts'
import { listSkills } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { skillView } from '../../domain/skills/skill-view.ts'
import * as store from '../../store/skill-pages.ts'
import type { SkillTables } from '../../store/skill-tables.ts'

export const listSkillsRoute = (use: { db: Db<SkillTables> }) =>
  route(listSkills, async ({ scope, query: { after, limit, order } }) => {
    if (after !== undefined && !(await store.isSkillCursor(use.db, scope.projectId, after))) {
      throw new Fault('invalid_value', 'No skill with the id given in after.', { param: 'after' })
    }
    return pageView(await store.listSkills(use.db, scope.projectId, { after, limit, order }), limit, skillView)
  })

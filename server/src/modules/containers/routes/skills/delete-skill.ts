import { deleteSkill } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { route } from '#platform/http/route.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { endSkill } from '../../store/skills.ts'
import { noSuchSkill } from './retrieve-skill.ts'

/** The rows end first; the sweep then removes the bytes, and removes them again should it die half way. */
export const deleteSkillRoute = (use: { db: Db<SkillTables> }) =>
  route(deleteSkill, async ({ scope, params }) => {
    const ended = await use.db.tx((tx) => endSkill(tx, scope.projectId, params.skill_id))
    if (!ended) throw noSuchSkill()
    return { id: params.skill_id, object: 'skill.deleted', deleted: true } as const
  })

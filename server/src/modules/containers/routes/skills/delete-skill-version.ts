import type { SkillVersionId } from '@switchyard/contracts/ids.ts'
import { deleteSkillVersion } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { readVersion } from '../../domain/skills/version-choice.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { endSkill, endVersion, lockSkill, setLatest } from '../../store/skills.ts'
import { noSuchVersion } from './retrieve-skill-version.ts'
import { noSuchSkill } from './retrieve-skill.ts'

export const deleteSkillVersionRoute = (use: { db: Db<SkillTables> }) =>
  route(deleteSkillVersion, async ({ scope, params: { skill_id: id, version: text } }) => {
    const choice = readVersion(text)
    return await use.db.tx(async (tx) => {
      const skill = await lockSkill(tx, scope.projectId, id)
      if (skill === null) throw noSuchSkill()
      const version = choice === 'latest' ? skill.latest_version : choice
      const ended = version === null ? null : await endVersion(tx, id, version)
      if (ended === null) throw noSuchVersion()
      if (ended.latestLeft === null) await endSkill(tx, scope.projectId, id)
      else if (version === skill.default_version) {
        throw new Fault('invalid_value', 'This is the default version: choose another one first.', { param: 'version' })
      } else await setLatest(tx, id, ended.latestLeft)
      return {
        id: ended.id as SkillVersionId,
        object: 'skill.version.deleted',
        deleted: true,
        version: String(version),
      } as const
    })
  })

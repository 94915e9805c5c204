import { createSkillVersion } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { uploadRoute } from '#platform/http/route.ts'
import { skillVersionView } from '../../domain/skills/skill-view.ts'
import { storeSkill } from '../../steps/store-skill.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { insertVersion } from '../../store/skills.ts'
import type { UploadSkillUses } from './create-skill.ts'
import { getSkill, noSuchSkill } from './retrieve-skill.ts'

export const createSkillVersionRoute = (use: UploadSkillUses & { db: Db<SkillTables> }) =>
  uploadRoute(
    createSkillVersion,
    {
      ...use.receiver,
      async receive(file, { scope, params }) {
        // Asked before the bytes are taken; the insert asks again, and its answer counts.
        await getSkill(use.db, scope.projectId, params.skill_id)
        return await use.receiver.receive(file)
      },
    },
    async ({ scope, params, body, file, request, commit }) => {
      try {
        const packed = await use.packing.upload(file.files, 'files')
        const version = await storeSkill(use.blobs, packed, request.signal)
        const made = await commit(async (tx) => {
          const row = await insertVersion(tx, scope.projectId, params.skill_id, version, body.default ?? false)
          if (row === null) throw noSuchSkill()
          return skillVersionView(row)
        })
        return made
      } finally {
        use.receiver.release(file)
      }
    },
  )

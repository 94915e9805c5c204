import type { SkillId } from '@switchyard/contracts/ids.ts'
import { createSkill } from '@switchyard/contracts/skills.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import { uploadRoute } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { skillView } from '../../domain/skills/skill-view.ts'
import type { Packing } from '../../steps/pack-skill.ts'
import type { SkillReceiver } from '../../steps/receive-skill.ts'
import { storeSkill } from '../../steps/store-skill.ts'
import { insertSkill } from '../../store/skills.ts'

export interface UploadSkillUses {
  readonly blobs: Blobs
  readonly packing: Packing
  readonly receiver: SkillReceiver
}

export const createSkillRoute = (use: UploadSkillUses) =>
  uploadRoute(createSkill, use.receiver, async ({ scope, file, request, commit }) => {
    try {
      const packed = await use.packing.upload(file.files, 'files')
      const version = await storeSkill(use.blobs, packed, request.signal)
      return await commit(async (tx) =>
        skillView(await insertSkill(tx, scope.projectId, newId<SkillId>('skill_'), version)),
      )
    } finally {
      use.receiver.release(file)
    }
  })

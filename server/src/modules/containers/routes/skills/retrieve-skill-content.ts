import { retrieveSkillContent, retrieveSkillVersionContent } from '@switchyard/contracts/skills.ts'
import { BlobMissing, type Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { BinaryReply } from '#platform/http/binary-reply.ts'
import { route } from '#platform/http/route.ts'
import type { SkillTables } from '../../store/skill-tables.ts'
import { findVersion, type VersionRow } from '../../store/skills.ts'
import { getVersion } from './retrieve-skill-version.ts'
import { noSuchSkill } from './retrieve-skill.ts'

export interface SkillContentUses {
  readonly db: Db<SkillTables>
  readonly blobs: Blobs
}

export const retrieveSkillContentRoute = (use: SkillContentUses) =>
  route(retrieveSkillContent, async ({ scope, params }) => {
    const version = await findVersion(use.db, scope.projectId, params.skill_id, 'default')
    if (version === null) throw noSuchSkill()
    return await zipOf(use.blobs, version)
  })

export const retrieveSkillVersionContentRoute = (use: SkillContentUses) =>
  route(retrieveSkillVersionContent, async ({ scope, params }) =>
    zipOf(use.blobs, await getVersion(use.db, scope.projectId, params.skill_id, params.version)),
  )

async function zipOf(blobs: Blobs, { blob, bytes, name, version }: VersionRow): Promise<BinaryReply> {
  try {
    const stream = await blobs.read(blob)
    const headers = {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${name}-${version}.zip"`,
      'x-content-type-options': 'nosniff',
      'content-length': String(bytes),
    }
    return new BinaryReply({ headers, stream })
  } catch (error) {
    // Deleted and swept between the reads: it is gone, and that is the answer.
    if (error instanceof BlobMissing) throw noSuchSkill()
    throw error
  }
}

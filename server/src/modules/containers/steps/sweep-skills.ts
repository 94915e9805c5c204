import type { Blobs } from '#platform/blobs/blobs.ts'
import { removeBlobs, removeOrphans } from '#platform/blobs/remove-orphans.ts'
import type { Db } from '#platform/db/db.ts'
import { forgetEndedSkills, listKnownBlobs, listVersionsToClear, markVersionsCleared } from '../store/ended-skills.ts'
import type { SkillTables } from '../store/skill-tables.ts'
import { skillBlobPrefix } from './store-skill.ts'

export interface SkillSweepUses {
  readonly db: Db<SkillTables>
  readonly blobs: Blobs
}

const batch = 200
/** How long an ended skill can still be paged from. */
const keptForPagingMs = 86_400_000

/** One bounded round: removes the bytes of what has ended. Returns how much there was. */
export async function sweepSkills(use: SkillSweepUses, signal: AbortSignal): Promise<number> {
  const versions = await listVersionsToClear(use.db, batch)
  await removeBlobs(
    use.blobs,
    versions.map(({ blob }) => blob),
    signal,
  )
  if (versions.length > 0) {
    await markVersionsCleared(
      use.db,
      versions.map(({ id }) => id),
    )
  }
  return versions.length + (await forgetEndedSkills(use.db, keptForPagingMs, batch))
}

/** Removes zips that no version names: left by processes that died on the way. Returns how many. */
export function sweepSkillOrphans(
  { db, blobs }: SkillSweepUses,
  now: Date,
  signal: AbortSignal,
  ageMs?: number,
): Promise<number> {
  const age = ageMs === undefined ? {} : { ageMs }
  const listKnown = (names: readonly string[]) => listKnownBlobs(db, [...names])
  return removeOrphans({ blobs, prefix: skillBlobPrefix, listKnown, now, signal, ...age })
}

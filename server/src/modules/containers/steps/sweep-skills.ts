import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Db } from '#platform/db/db.ts'
import { forgetEndedSkills, listKnownBlobs, listVersionsToClear, markVersionsCleared } from '../store/ended-skills.ts'
import type { SkillTables } from '../store/skill-tables.ts'
import { skillBlobPrefix } from './store-skill.ts'

export interface SkillSweepUses {
  readonly db: Db<SkillTables>
  readonly blobs: Blobs
}

const batch = 200
const removalsAtOnce = 8
/** How long an ended skill can still be paged from. */
const keptForPagingMs = 86_400_000
/** Far longer than a request may take between writing a blob and committing its row. */
const orphanAgeMs = 6 * 3_600_000

/** One bounded round: removes the bytes of what has ended. Returns how much there was. */
export async function sweepSkills(use: SkillSweepUses, signal: AbortSignal): Promise<number> {
  const versions = await listVersionsToClear(use.db, batch)
  await removeAll(
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

/** Removing is idempotent: a round that died half way is simply done again. */
async function removeAll(blobs: Blobs, names: readonly string[], signal: AbortSignal): Promise<void> {
  for (let at = 0; at < names.length; at += removalsAtOnce) {
    signal.throwIfAborted()
    await Promise.all(names.slice(at, at + removalsAtOnce).map((name) => blobs.remove(name)))
  }
}

/** Removes zips that no version names: left by processes that died on the way. Returns how many. */
export async function sweepSkillOrphans(
  use: SkillSweepUses,
  now: Date,
  signal: AbortSignal,
  ageMs = orphanAgeMs,
): Promise<number> {
  let removed = 0
  let names: string[] = []
  const check = async () => {
    const known = await listKnownBlobs(use.db, names)
    const orphans = names.filter((name) => !known.has(name))
    await removeAll(use.blobs, orphans, signal)
    removed += orphans.length
    names = []
  }
  for await (const { name, modifiedAt } of use.blobs.list(skillBlobPrefix)) {
    signal.throwIfAborted()
    if (now.getTime() - modifiedAt.getTime() > ageMs) names.push(name)
    if (names.length >= batch) await check()
  }
  if (names.length > 0) await check()
  return removed
}

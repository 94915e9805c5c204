import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { SkillTables } from './skill-tables.ts'

const toClear = statement<[number], { id: string; blob: string }>(
  'containers.skill-versions-to-clear',
  `select id, blob from containers.skill_version where ended_at is not null and cleared_at is null
   order by ended_at limit $1`,
)

/** Ended versions whose zip may still be there. */
export async function listVersionsToClear(db: Db<SkillTables>, limit: number): Promise<{ id: string; blob: string }[]> {
  return await db.run(toClear, [limit])
}

const cleared = statement<[string[]], { id: string }>(
  'containers.skill-versions-cleared',
  `update containers.skill_version set cleared_at = clock_timestamp()
   where id = any($1) and ended_at is not null and cleared_at is null returning id`,
)

export async function markVersionsCleared(db: Db<SkillTables>, ids: string[]): Promise<void> {
  await db.run(cleared, [ids])
}

const forget = statement<[number, number], { id: string }>(
  'containers.skills-forget',
  `delete from containers.skill where id in (
     select s.id from containers.skill s
     where s.ended_at < clock_timestamp() - $1 * interval '1 millisecond'
       and not exists (select 1 from containers.skill_version v where v.skill_id = s.id and v.cleared_at is null)
     order by s.ended_at limit $2 for update skip locked)
   returning id`,
)

/** Removes ended skills whose bytes are gone and whose id nobody pages from any more. Returns how many. */
export async function forgetEndedSkills(db: Db<SkillTables>, keptMs: number, limit: number): Promise<number> {
  return (await db.run(forget, [keptMs, limit])).length
}

const known = statement<[string[]], { blob: string }>(
  'containers.skill-blobs-known',
  `select blob from containers.skill_version where blob = any($1) and cleared_at is null`,
)

/** Which of these blobs a version still names. */
export async function listKnownBlobs(db: Db<SkillTables>, names: string[]): Promise<Set<string>> {
  return new Set((await db.run(known, [names])).map(({ blob }) => blob))
}

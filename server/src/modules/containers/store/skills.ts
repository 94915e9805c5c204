import type { ProjectId, SkillId, SkillVersionId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import type { SkillTables } from './skill-tables.ts'

export interface SkillRow {
  id: string
  created_at: Date
  default_version: number
  latest_version: number
  /** Of the default version. */
  name: string
  description: string
}

export interface VersionRow {
  id: string
  skill_id: string
  version: number
  name: string
  description: string
  created_at: Date
  blob: string
  bytes: number
  unpacked_bytes: number
}

export interface NewVersion {
  id: SkillVersionId
  name: string
  description: string
  blob: string
  bytes: number
  unpacked_bytes: number
  files: number
}

const skillColumns = `s.id, s.created_at, s.default_version, s.latest_version, d.name, d.description`
const skillSource = `containers.skill s
  join containers.skill_version d on d.skill_id = s.id and d.version = s.default_version`
const versionColumns =
  'v.id, v.skill_id, v.version, v.name, v.description, v.created_at, v.blob, v.bytes, v.unpacked_bytes'

const find = statement<[string, string], SkillRow>(
  'containers.skill-find',
  `select ${skillColumns} from ${skillSource} where s.id = $1 and s.project_id = $2 and s.ended_at is null`,
)

export async function findSkill(db: Db<SkillTables>, projectId: ProjectId, id: string): Promise<SkillRow | null> {
  const [row] = await db.run(find, [id, projectId])
  return row ?? null
}

/** Which version of a skill is meant. */
export type VersionChoice = number | 'latest' | 'default'

function versionText(choice: 'number' | 'latest' | 'default'): string {
  const chosen = { number: '$3::integer', latest: 's.latest_version', default: 's.default_version' }[choice]
  return `select ${versionColumns} from containers.skill s
    join containers.skill_version v on v.skill_id = s.id and v.version = ${chosen}
    where s.id = $1 and s.project_id = $2 and s.ended_at is null and v.ended_at is null
      ${choice === 'number' ? '' : 'and $3::integer is null'}`
}

type VersionParams = [string, string, number | null]

const versionStatements = {
  number: statement<VersionParams, VersionRow>('containers.skill-version', versionText('number')),
  latest: statement<VersionParams, VersionRow>('containers.skill-version-latest', versionText('latest')),
  default: statement<VersionParams, VersionRow>('containers.skill-version-default', versionText('default')),
}

export async function findVersion(
  db: Db<SkillTables>,
  projectId: ProjectId,
  skillId: string,
  choice: VersionChoice,
): Promise<VersionRow | null> {
  const chosen = typeof choice === 'number' ? versionStatements.number : versionStatements[choice]
  const [row] = await db.run(chosen, [skillId, projectId, typeof choice === 'number' ? choice : null])
  return row ?? null
}

/** A new skill with its first version, which is the default one. */
export async function insertSkill(
  tx: Tx,
  projectId: ProjectId,
  id: SkillId,
  { name, description, ...version }: NewVersion,
): Promise<SkillRow> {
  const skill = await own<SkillTables>(tx)
    .insertInto('containers.skill')
    .values({ id, project_id: projectId, default_version: 1, latest_version: 1, versions_made: 1 })
    .returning(['id', 'created_at', 'default_version', 'latest_version'])
    .executeTakeFirstOrThrow()
  await own<SkillTables>(tx)
    .insertInto('containers.skill_version')
    .values({ ...version, name, description, skill_id: id, version: 1 })
    .execute()
  return { ...skill, name, description }
}

/** Adds the next version. Null when there is no such skill. Two at once take a number each: the first update holds the row. */
export async function insertVersion(
  tx: Tx,
  projectId: ProjectId,
  skillId: SkillId,
  version: NewVersion,
  makeDefault: boolean,
): Promise<VersionRow | null> {
  const next = sql<number>`versions_made + 1`
  const skill = await own<SkillTables>(tx)
    .updateTable('containers.skill')
    .set({ versions_made: next, latest_version: next, ...(makeDefault ? { default_version: next } : {}) })
    .where('id', '=', skillId)
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .returning('versions_made')
    .executeTakeFirst()
  if (skill === undefined) return null
  return await own<SkillTables>(tx)
    .insertInto('containers.skill_version')
    .values({ ...version, skill_id: skillId, version: skill.versions_made })
    .returning(['id', 'skill_id', 'version', 'name', 'description', 'created_at', 'blob', 'bytes', 'unpacked_bytes'])
    .executeTakeFirstOrThrow()
}

export interface HeldSkill {
  default_version: number
  latest_version: number
}

/** Keeps a skill to this transaction: no version comes, goes or becomes the default in between. */
export async function lockSkill(tx: Tx, projectId: ProjectId, id: SkillId): Promise<HeldSkill | null> {
  const row = await own<SkillTables>(tx)
    .selectFrom('containers.skill')
    .select(['default_version', 'latest_version'])
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return row ?? null
}

/** Of a locked skill. Returns whether the version is there. */
export async function chooseDefault(tx: Tx, id: SkillId, version: number): Promise<boolean> {
  const chosen = await own<SkillTables>(tx)
    .updateTable('containers.skill')
    .set({ default_version: version })
    .where('id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('containers.skill_version')
          .select('id')
          .where('skill_id', '=', id)
          .where('version', '=', version)
          .where('ended_at', 'is', null),
      ),
    )
    .executeTakeFirst()
  return chosen.numUpdatedRows === 1n
}

/** Ends a version of a locked skill. Null when there is none; otherwise its id and the highest that is left, if any. */
export async function endVersion(
  tx: Tx,
  id: SkillId,
  version: number,
): Promise<{ id: string; latestLeft: number | null } | null> {
  const ended = await own<SkillTables>(tx)
    .updateTable('containers.skill_version')
    .set({ ended_at: sql<Date>`clock_timestamp()` })
    .where('skill_id', '=', id)
    .where('version', '=', version)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (ended === undefined) return null
  const { latest } = await own<SkillTables>(tx)
    .selectFrom('containers.skill_version')
    .select(({ fn }) => fn.max('version').as('latest'))
    .where('skill_id', '=', id)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return { id: ended.id, latestLeft: latest }
}

export async function setLatest(tx: Tx, id: SkillId, version: number): Promise<void> {
  const set = await own<SkillTables>(tx)
    .updateTable('containers.skill')
    .set({ latest_version: version })
    .where('id', '=', id)
    .executeTakeFirst()
  assert(set.numUpdatedRows === 1n, 'a locked skill is there')
}

/** Ends a skill and all its versions. Returns whether this call was the one. */
export async function endSkill(tx: Tx, projectId: ProjectId, id: SkillId): Promise<boolean> {
  const ended = await own<SkillTables>(tx)
    .updateTable('containers.skill')
    .set({ ended_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  if (ended.numUpdatedRows !== 1n) return false
  await own<SkillTables>(tx)
    .updateTable('containers.skill_version')
    .set({ ended_at: sql<Date>`clock_timestamp()` })
    .where('skill_id', '=', id)
    .where('ended_at', 'is', null)
    .execute()
  return true
}

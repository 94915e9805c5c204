import type { ProjectId, SkillId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { assert } from '#platform/std/assert.ts'
import type { SkillTables } from './skill-tables.ts'
import type { SkillRow, VersionRow } from './skills.ts'

export interface SkillsPage {
  after: string | undefined
  limit: number
  order: 'asc' | 'desc'
}

type ListParams = [string, number, string | null]

/** One text per shape of the question, so that each keeps its own plan: an index scan of one page. */
function shapes<Row>(name: string, text: (order: 'asc' | 'desc', after: boolean) => string) {
  return new Map(
    (['asc', 'desc'] as const).flatMap((order) =>
      [true, false].map(
        (after) =>
          [`${order}-${after}`, statement<ListParams, Row>(`${name}-${order}-${after}`, text(order, after))] as const,
      ),
    ),
  )
}

const skillLists = shapes<SkillRow>('containers.skills', (order, after) => {
  const past = order === 'desc' ? '<' : '>'
  return `select s.id, s.created_at, s.default_version, s.latest_version, d.name, d.description
    from containers.skill s
    join containers.skill_version d on d.skill_id = s.id and d.version = s.default_version
    where s.project_id = $1 and s.ended_at is null
      ${after ? `and (s.created_at, s.id) ${past} (select created_at, id from containers.skill where id = $3)` : 'and $3::text is null'}
    order by s.created_at ${order}, s.id ${order} limit $2`
})

const versionLists = shapes<VersionRow>('containers.skill-versions', (order, after) => {
  const past = order === 'desc' ? '<' : '>'
  return `select id, skill_id, version, name, description, created_at, blob, bytes, unpacked_bytes from containers.skill_version
    where skill_id = $1 and ended_at is null
      ${after ? `and version ${past} (select version from containers.skill_version where id = $3)` : 'and $3::text is null'}
    order by version ${order} limit $2`
})

/** One row more than asked for says that there is another page. */
export async function listSkills(db: Db<SkillTables>, projectId: ProjectId, page: SkillsPage): Promise<SkillRow[]> {
  const list = skillLists.get(`${page.order}-${page.after !== undefined}`)
  assert(list !== undefined, 'every shape of the list has its statement')
  return await db.run(list, [projectId, page.limit + 1, page.after ?? null])
}

/** Of a skill that the caller was found to have. */
export async function listVersions(db: Db<SkillTables>, skillId: SkillId, page: SkillsPage): Promise<VersionRow[]> {
  const list = versionLists.get(`${page.order}-${page.after !== undefined}`)
  assert(list !== undefined, 'every shape of the list has its statement')
  return await db.run(list, [skillId, page.limit + 1, page.after ?? null])
}

const skillCursor = statement<[string, string], { id: string }>(
  'containers.skill-cursor',
  `select id from containers.skill where id = $1 and project_id = $2`,
)

/** Whether a page can start after this id. One deleted a moment ago still can be paged from. */
export async function isSkillCursor(db: Db<SkillTables>, projectId: ProjectId, id: string): Promise<boolean> {
  return (await db.run(skillCursor, [id, projectId])).length === 1
}

const versionCursor = statement<[string, string], { id: string }>(
  'containers.skill-version-cursor',
  `select id from containers.skill_version where id = $1 and skill_id = $2`,
)

export async function isVersionCursor(db: Db<SkillTables>, skillId: SkillId, id: string): Promise<boolean> {
  return (await db.run(versionCursor, [id, skillId])).length === 1
}

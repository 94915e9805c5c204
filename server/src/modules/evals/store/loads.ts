import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { EvalsTables } from './tables.ts'

/** Loads of a project are started one after the other: nobody counts while another starts one. */
export async function lockLoads(tx: Tx, projectId: string): Promise<void> {
  await sql`select 1 from pg_advisory_xact_lock(hashtextextended('loads of ' || ${projectId}, 0))`.execute(own(tx))
}

/** Lets the oldest runs of a project that wait for it be loaded, as far as fewer than `most` are. */
export async function startNextLoads(
  tx: Tx,
  projectId: string,
  most: number,
): Promise<{ id: string; generation: number }[]> {
  const toLoad = sql`project_id = ${projectId} and ended_at is null and not loaded`
  const { rows } = await sql<{ id: string; generation: number }>`
    update evals.run set load_submitted = true, moved_at = clock_timestamp()
    where id in (
      select id from evals.run where ${toLoad} and not load_submitted order by id
      limit greatest(0, ${most}::int - (select count(*) from evals.run where ${toLoad} and load_submitted))
      for update skip locked)
    returning id, generation`.execute(own<EvalsTables>(tx))
  return rows
}

const waiting = statement<[number, number], { project_id: string }>(
  'evals.waiting-loads',
  `select project_id from evals.run where ended_at is null and not loaded group by project_id
   having count(*) filter (where load_submitted) < $1 and count(*) filter (where not load_submitted) > 0
   order by min(id) limit $2`,
)

/** Projects that have runs to load and could. */
export async function listWaitingLoads(db: Db<EvalsTables>, most: number, limit: number): Promise<string[]> {
  return (await db.run(waiting, [most, limit])).map(({ project_id: projectId }) => projectId)
}

const project = statement<[string], { project_id: string }>(
  'evals.project-of-load',
  `select project_id from evals.run where id = $1 and ended_at is null and not loaded`,
)

/** Whose run it is. Null when there is nothing to load. */
export async function findLoadProject(db: Db<EvalsTables>, id: string): Promise<string | null> {
  const [row] = await db.run(project, [id])
  return row?.project_id ?? null
}

/** A load is to be taken up later. The rows returned are for `fenced`. */
export async function postponeLoad(tx: Tx, id: string, waitMs: number): Promise<{ generation: number; at: Date }[]> {
  const { rows } = await sql<{ generation: number; at: Date }>`
    update evals.run set generation = generation + 1, stalls = 0,
      moved_at = clock_timestamp() + ${waitMs} * interval '1 millisecond'
    where id = ${id} and ended_at is null and not loaded returning generation, moved_at as at`.execute(
    own<EvalsTables>(tx),
  )
  return rows
}

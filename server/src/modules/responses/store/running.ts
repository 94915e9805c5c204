import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { itemRows } from './item-rows.ts'
import type { ResponsesTables } from './tables.ts'

const running = statement<[string], { id: string }>(
  'responses.is-running',
  `select id from responses.running where id = $1`,
)

export async function isRunning(db: Db<ResponsesTables>, id: string): Promise<boolean> {
  return (await db.run(running, [id])).length === 1
}

const moved = statement<[string[]], { id: string; running: boolean; last: number | null }>(
  'responses.moved',
  `select given.id, r.id is not null as running,
     (select e.last from responses.event e where e.response_id = given.id order by e.first desc limit 1) as last
   from unnest($1::text[]) as given (id) left join responses.running r on r.id = given.id`,
)

/** How far each of many responses has come: whether it runs, and the number of its last stored event. */
export async function lookAt(
  db: Db<ResponsesTables>,
  ids: readonly string[],
): Promise<{ id: string; running: boolean; last: number | null }[]> {
  return await db.run(moved, [[...ids]])
}

export interface Claimed {
  attempt: number
  project_id: string
  next_number: number
  next_output_index: number
  usage: Usage | null
  org_id: string | null
  key_id: string | null
  request_id: string | null
  limited: boolean
  batch: boolean
  committed_attempt: number
}

const claim = statement<[string, number], Claimed>(
  'responses.claim',
  `update responses.running set attempt = attempt + 1, status = 'in_progress', moved_at = clock_timestamp()
   where id = $1 and step = $2 and background
   returning attempt, project_id, next_number, next_output_index, usage, org_id, key_id, request_id, limited, batch,
     committed_attempt`,
)

/** Takes a step of a background response. Null when it is done, cancelled or gone. */
export async function claimStep(db: Db<ResponsesTables>, id: string, step: number): Promise<Claimed | null> {
  const [row] = await db.run(claim, [id, step])
  return row ?? null
}

const touch = statement<[string, number], { id: string }>(
  'responses.touch',
  `update responses.running set moved_at = clock_timestamp() where id = $1 and attempt = $2 returning id`,
)

/** Shows that an attempt is alive. False: it is not ours any more. */
export async function touchStep(db: Db<ResponsesTables>, id: string, attempt: number): Promise<boolean> {
  return (await db.run(touch, [id, attempt])).length === 1
}

export interface StepDone {
  readonly nextNumber: number
  readonly nextOutputIndex: number
  readonly usage: Usage
}

/** Commits a step: the row moves on to the next one. The rows returned are for `fenced`. */
export async function advanceStep(
  tx: Tx,
  id: string,
  attempt: number,
  done: StepDone,
): Promise<{ step: number; generation: number }[]> {
  const { rows } = await sql<{ step: number; generation: number }>`
    update responses.running set step = step + 1, generation = generation + 1, stalls = 0, moved_at = clock_timestamp(),
      committed_attempt = attempt, next_number = ${done.nextNumber}, next_output_index = ${done.nextOutputIndex}, usage = ${JSON.stringify(done.usage)}
    where id = ${id} and attempt = ${attempt} returning step, generation`.execute(own<ResponsesTables>(tx))
  return rows
}

/** Adds output items at the end of what a response has. */
export async function appendOutput(tx: Tx, projectId: string, id: string, items: readonly OutputItem[]): Promise<void> {
  if (items.length === 0) return
  await sql`
    insert into responses.item (response_id, position, is_output, project_id, id, item)
    select ${id}, (select coalesce(max(position) + 1, 0) from responses.item where response_id = ${id}) + (n - 1)::int, true,
      ${projectId}, i ->> 'id', (i ->> 'item')::json
    from json_array_elements(${itemRows(items)}::json) with ordinality as given (i, n)`.execute(
    own<ResponsesTables>(tx),
  )
}

/** Doubles with every stall in a row: a machine that is merely slow must not be given its work again and again. */
export async function stalledSteps(
  tx: Tx,
  limit: number,
  stalledMs: number,
): Promise<{ id: string; step: number; generation: number }[]> {
  const { rows } = await sql<{ id: string; step: number; generation: number }>`
    update responses.running set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
    where id in (
      select id from responses.running
      where background and submitted
        and moved_at < clock_timestamp() - 2 ^ least(stalls, 6) * ${stalledMs} * interval '1 millisecond'
      order by moved_at limit ${limit} for update skip locked)
    returning id, step, generation`.execute(own<ResponsesTables>(tx))
  return rows
}

/** How many background responses of a project are under way. */
export async function countSubmitted(tx: Tx, projectId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select 1 from responses.running where background and submitted and project_id = ${projectId} limit ${limit}) as under_way`.execute(
    own<ResponsesTables>(tx),
  )
  return rows[0]?.count ?? 0
}

/** Lets waiting responses of a project start, oldest first. */
export async function startWaiting(
  tx: Tx,
  projectId: string,
  limit: number,
): Promise<{ id: string; step: number; generation: number }[]> {
  const { rows } = await sql<{ id: string; step: number; generation: number }>`
    update responses.running set submitted = true, moved_at = clock_timestamp()
    where id in (
      select id from responses.running where background and not submitted and project_id = ${projectId}
      order by created_at limit ${limit} for update skip locked)
    returning id, step, generation`.execute(own<ResponsesTables>(tx))
  return rows
}

/** Projects with responses that wait and with fewer than `most` under way, whoever forgot to start them. */
export async function listWaitingProjects(db: Db<ResponsesTables>, most: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from responses.running where background group by project_id
    having count(*) filter (where submitted) < ${most} and count(*) filter (where not submitted) > 0
    order by min(created_at) limit ${limit}`.execute(db.kysely)
  return rows.map((row) => row.project_id)
}

const background = statement<[number], { project_id: ProjectId }>(
  'responses.background-projects',
  'select distinct project_id from responses.running where background limit $1',
)

/** Projects with background responses that have not ended. */
export async function listBackgroundProjects(db: Db<ResponsesTables>, limit: number): Promise<ProjectId[]> {
  return (await db.run(background, [limit])).map(({ project_id: projectId }) => projectId)
}

const backgroundOf = statement<[readonly string[], number], { id: string; project_id: ProjectId }>(
  'responses.background-of',
  `select id, project_id from responses.running where background and project_id = any($1::text[])
   order by submitted limit $2`,
)

/** Their background responses that have not ended, those that wait first. */
export async function listBackgroundOf(
  db: Db<ResponsesTables>,
  projectIds: readonly ProjectId[],
  limit: number,
): Promise<{ id: string; project_id: ProjectId }[]> {
  return projectIds.length === 0 ? [] : await db.run(backgroundOf, [projectIds, limit])
}

const inContainers = statement<[string[]], { container_id: string }>(
  'responses.containers-in-use',
  'select distinct container_id from responses.running where container_id = any($1)',
)

/** Which of these containers a response that has not ended refers to. */
export async function findContainersInUse(
  db: Db<ResponsesTables>,
  containerIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await db.run(inContainers, [[...containerIds]])).map(({ container_id }) => container_id))
}

import type { MemoryLimit } from '@switchyard/contracts/containers.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import type { BoxFile, BoxOrder, BoxSkill, SecretName } from '../domain/order.ts'
import type { ContainerStatus, ContainersTables } from './tables.ts'

export interface ContainerRow {
  id: string
  project_id: string
  org_id: string
  name: string
  status: ContainerStatus
  status_reason: string | null
  response_id: string | null
  memory_limit: MemoryLimit
  memory_bytes: number
  expires_minutes: number
  created_at: Date
  last_active_at: Date
  expires_at: Date
  allowed_domains: string[] | null
  secrets: SecretName[]
  skills: BoxSkill[]
  files: BoxFile[]
  inline_blobs: string[]
  host_id: string | null
}

export interface NewContainer {
  readonly id: string
  readonly projectId: string
  readonly orgId: string
  readonly name: string
  readonly status: 'reserved' | 'active'
  readonly responseId: string | null
  readonly memoryLimit: MemoryLimit
  readonly memoryBytes: number
  readonly expiresMinutes: number
  readonly allowedDomains: readonly string[] | null
  readonly secrets: readonly SecretName[]
  readonly skills: readonly BoxSkill[]
  readonly files: readonly BoxFile[]
  readonly inlineBlobs: readonly string[]
  readonly hostId: string | null
  /** Not for its project to see, and not counted. */
  readonly private: boolean
}

const columns = `id, project_id, org_id, name, status, status_reason, response_id, memory_limit, memory_bytes,
  expires_minutes, created_at, last_active_at, expires_at, allowed_domains, secrets, skills, files, inline_blobs, host_id`

/** With where its host is: all that it takes to ask the host, in one statement. */
export interface ReachableRow extends ContainerRow {
  host_url: string | null
}

const reachable = `${columns}, (select host.url from containers.host where host.id = container.host_id) as host_url`

export const orderOf = (row: ContainerRow): BoxOrder => ({
  containerId: row.id,
  projectId: row.project_id,
  orgId: row.org_id,
  memoryBytes: row.memory_bytes,
  allowedDomains: row.allowed_domains,
  secrets: row.secrets,
  skills: row.skills,
  files: row.files,
})

export async function insertContainer(tx: Tx, made: NewContainer): Promise<ContainerRow> {
  const now = sql<Date>`statement_timestamp()`
  await own<ContainersTables>(tx)
    .insertInto('containers.container')
    .values({
      id: made.id,
      project_id: made.projectId,
      org_id: made.orgId,
      name: made.name,
      status: made.status,
      response_id: made.responseId,
      memory_limit: made.memoryLimit,
      memory_bytes: made.memoryBytes,
      expires_minutes: made.expiresMinutes,
      created_at: now,
      last_active_at: now,
      expires_at: sql<Date>`statement_timestamp() + ${made.expiresMinutes} * interval '1 minute'`,
      allowed_domains: made.allowedDomains === null ? null : [...made.allowedDomains],
      secrets: JSON.stringify(made.secrets),
      skills: JSON.stringify(made.skills),
      files: JSON.stringify(made.files),
      inline_blobs: [...made.inlineBlobs],
      host_id: made.hostId,
      private: made.private,
    })
    .execute()
  const [row] = await tx.run(byId, [made.id])
  assert(row !== undefined, 'what was inserted is there')
  return row
}

const byId = statement<[string], ReachableRow>(
  'containers.by-id',
  `select ${reachable} from containers.container where id = $1`,
)

const shown = statement<[string, string], ContainerRow>(
  'containers.shown',
  `select ${columns} from containers.container where id = $1 and project_id = $2 and not private
     and status in ('active', 'expired')`,
)

/** As its project knows it; null for one that is reserved, private, deleted or someone else's. */
export async function findContainer(
  db: Db<ContainersTables>,
  projectId: string,
  id: string,
): Promise<ContainerRow | null> {
  const [row] = await db.run(shown, [id, projectId])
  return row ?? null
}

/** Whatever its state: for the loop that was handed its id. */
export async function findAnyContainer(db: Db<ContainersTables>, id: string): Promise<ReachableRow | null> {
  const [row] = await db.run(byId, [id])
  return row ?? null
}

const touch = statement<[string], ReachableRow>(
  'containers.touch',
  `update containers.container set status = 'active', last_active_at = clock_timestamp(),
     expires_at = clock_timestamp() + expires_minutes * interval '1 minute'
   where id = $1 and status in ('reserved', 'active') returning ${reachable}`,
)

/** Activity: the time until it expires begins anew, and a reserved one becomes real. Null when it is over. */
export async function touchContainer(db: Db<ContainersTables>, id: string): Promise<ReachableRow | null> {
  const [row] = await db.run(touch, [id])
  return row ?? null
}

const activeCount = statement<[string], { count: number }>(
  'containers.active-count',
  `select count(*) as count from containers.container where project_id = $1 and status = 'active' and not private`,
)

const turn = statement<[string], never>(
  'containers.turn',
  `select 1 from pg_advisory_xact_lock(hashtextextended('containers of ' || $1, 0))`,
)

/** Those who count take turns until they commit: two that count at once would both find the last place free. */
export async function countActive(tx: Tx, projectId: string): Promise<number> {
  await tx.run(turn, [projectId])
  const [row] = await tx.run(activeCount, [projectId])
  return row?.count ?? 0
}

export interface ContainersPage {
  readonly after: string | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly name: string | undefined
}

const listText = (order: 'asc' | 'desc') => `select ${columns} from containers.container
  where project_id = $1 and status in ('active', 'expired') and not private and ($3::text is null or name = $3)
    and ($4::text is null or id ${order === 'desc' ? '<' : '>'} $4)
  order by id ${order} limit $2`

type ListParams = [string, number, string | null, string | null]
const lists = {
  asc: statement<ListParams, ContainerRow>('containers.list-asc', listText('asc')),
  desc: statement<ListParams, ContainerRow>('containers.list-desc', listText('desc')),
}

/** One row more than asked for says that there is another page. */
export async function listContainers(
  db: Db<ContainersTables>,
  projectId: string,
  page: ContainersPage,
): Promise<ContainerRow[]> {
  return await db.run(lists[page.order], [projectId, page.limit + 1, page.name ?? null, page.after ?? null])
}

const cursor = statement<[string, string], { id: string }>(
  'containers.cursor',
  'select id from containers.container where id = $1 and project_id = $2 and not private',
)

/** Whether a page can go on from here; one that was deleted a while ago still counts. */
export async function isContainerCursor(db: Db<ContainersTables>, projectId: string, id: string): Promise<boolean> {
  return (await db.run(cursor, [id, projectId])).length > 0
}

/** Ends a container on behalf of its project. Returns it when this call was the one. */
export async function deleteContainer(tx: Tx, projectId: string, id: string): Promise<ContainerRow | null> {
  const { rows } = await sql<ContainerRow>`update containers.container set status = 'deleted'
    where id = ${id} and project_id = ${projectId} and not private and status in ('active', 'expired')
    returning ${sql.raw(columns)}`.execute(own<ContainersTables>(tx))
  return rows[0] ?? null
}

const endPrivate = statement<[string], { host_id: string | null }>(
  'containers.end-private',
  `update containers.container set status = 'deleted'
   where id = $1 and private and status in ('active', 'expired') returning host_id`,
)

/** Ends a private container. Returns where it was when this call was the one. */
export async function endPrivateContainer(
  db: Db<ContainersTables>,
  id: string,
): Promise<{ host_id: string | null } | null> {
  const [row] = await db.run(endPrivate, [id])
  return row ?? null
}

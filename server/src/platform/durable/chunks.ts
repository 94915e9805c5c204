import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement } from '../db/statement.ts'
import { own, type Tx } from '../db/tx.ts'
import type { Outstanding } from './handler.ts'

/** A piece of large work (a batch, a run): so many of its rows, carried out by one step at a time. */
export interface ChunkName {
  readonly ownerId: string
  readonly n: number
}

export interface SubmittedChunk extends ChunkName {
  readonly generation: number
}

/**
 * A table of chunks. It has the columns `n`, `project_id`, `status` (`waiting`, `submitted`, `done`), `attempt`,
 * `generation`, `stalls` and `moved_at`, and is keyed by its owner and `n`.
 */
export interface ChunkTable {
  /** With its schema: `evals.chunk`. */
  readonly table: string
  /** The column that names what a chunk is a part of. */
  readonly owner: string
}

export const keyOfChunk = ({ ownerId, n, generation }: SubmittedChunk): string => `${ownerId}:${n}:${generation}`

type ChunkRow = { owner_id: string; n: number; generation: number }
const submitted = ({ owner_id: ownerId, n, generation }: ChunkRow): SubmittedChunk => ({ ownerId, n, generation })

/** What is the same for the chunks of every module. */
export class Chunks {
  readonly #table: ReturnType<typeof sql.table>
  readonly #owner: ReturnType<typeof sql.ref>
  readonly #hold
  readonly #waiting
  readonly #project

  constructor({ table, owner }: ChunkTable) {
    this.#table = sql.table(table)
    this.#owner = sql.ref(owner)
    this.#hold = statement<[string, number, number], { n: number }>(
      `${table}.hold`,
      `select n from ${table} where ${owner} = $1 and n = $2 and attempt = $3 and status = 'submitted' for share`,
    )
    this.#project = statement<[string, number], { project_id: string }>(
      `${table}.project`,
      `select project_id from ${table} where ${owner} = $1 and n = $2 and status = 'submitted'`,
    )
    this.#waiting = statement<[number, number], { project_id: string }>(
      `${table}.waiting`,
      `select project_id from ${table} where status <> 'done' group by project_id
       having count(*) filter (where status = 'submitted') < $1 and count(*) filter (where status = 'waiting') > 0
       order by min(${owner}) limit $2`,
    )
  }

  /** Whose chunk it is. Null when it is done or gone. */
  async findProject(db: Pick<Db<never>, 'run'>, { ownerId, n }: ChunkName): Promise<string | null> {
    const [row] = await db.run(this.#project, [ownerId, n])
    return row?.project_id ?? null
  }

  /** Keeps everybody else from taking a chunk until the transaction ends. The rows returned are for `fenced`. */
  async hold(tx: Tx, { ownerId, n }: ChunkName, attempt: number): Promise<readonly unknown[]> {
    return await tx.run(this.#hold, [ownerId, n, attempt])
  }

  /** A chunk is to be taken up again later. The rows returned are for `fenced`. */
  async postpone(
    tx: Tx,
    { ownerId, n }: ChunkName,
    attempt: number | null,
    waitMs: number,
  ): Promise<{ generation: number; at: Date }[]> {
    const mine = attempt === null ? sql`true` : sql`attempt = ${attempt}`
    const { rows } = await sql<{ generation: number; at: Date }>`
      update ${this.#table} set generation = generation + 1, stalls = 0,
        moved_at = clock_timestamp() + ${waitMs} * interval '1 millisecond'
      where ${this.#owner} = ${ownerId} and n = ${n} and status = 'submitted' and ${mine}
      returning generation, moved_at as at`.execute(own(tx))
    return rows
  }

  /** How many chunks of an owner, whose row is locked, have not ended. */
  async countOpen(tx: Tx, ownerId: string): Promise<{ waiting: number; submitted: number }> {
    const { rows } = await sql<{ waiting: number; submitted: number }>`
      select count(*) filter (where status = 'waiting')::int as waiting,
        count(*) filter (where status = 'submitted')::int as submitted
      from ${this.#table} where ${this.#owner} = ${ownerId} and status <> 'done'`.execute(own(tx))
    return rows[0] ?? { waiting: 0, submitted: 0 }
  }

  /** How many chunks of a project are submitted. */
  async countSubmitted(tx: Tx, projectId: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${this.#table}
      where project_id = ${projectId} and status = 'submitted'`.execute(own(tx))
    return rows[0]?.count ?? 0
  }

  /** Starts the next chunk of a project: of the owner with the fewest under way, the oldest first. */
  async startNext(tx: Tx, projectId: string): Promise<SubmittedChunk | null> {
    const { rows } = await sql<ChunkRow>`
      with open as (
        select ${this.#owner} as owner_id, min(n) filter (where status = 'waiting') as next,
          count(*) filter (where status = 'submitted') as under_way
        from ${this.#table} where project_id = ${projectId} and status <> 'done' group by ${this.#owner}
      ), chosen as (
        -- One that somebody else is starting or ending is left to them.
        select open.owner_id, c.n from open join ${this.#table} c on c.${this.#owner} = open.owner_id and c.n = open.next
        where c.status = 'waiting' order by open.under_way, open.owner_id limit 1 for update of c skip locked
      )
      update ${this.#table} c set status = 'submitted', moved_at = clock_timestamp() from chosen
      where c.${this.#owner} = chosen.owner_id and c.n = chosen.n
      returning chosen.owner_id, c.n, c.generation`.execute(own(tx))
    const [row] = rows
    return row === undefined ? null : submitted(row)
  }

  /** Projects with chunks that wait and with fewer than `most` under way, whoever forgot to start them. */
  async listWaitingProjects(db: Pick<Db<never>, 'run'>, most: number, limit: number): Promise<string[]> {
    return (await db.run(this.#waiting, [most, limit])).map(({ project_id: projectId }) => projectId)
  }

  /** Doubles with every stall in a row: a machine that is merely slow must not be given its work again and again. */
  async stalled(tx: Tx, limit: number, stalledMs: number): Promise<SubmittedChunk[]> {
    const { rows } = await sql<ChunkRow>`
      update ${this.#table} set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
      where (${this.#owner}, n) in (
        select ${this.#owner}, n from ${this.#table}
        where status = 'submitted'
          and moved_at < clock_timestamp() - 2 ^ least(stalls, 6) * ${stalledMs} * interval '1 millisecond'
        order by moved_at limit ${limit} for update skip locked)
      returning ${this.#owner} as owner_id, n, generation`.execute(own(tx))
    return rows.map(submitted)
  }

  /** For a handler whose input is the name of a chunk. */
  outstanding(stalledMs: number) {
    return async (tx: Tx, limit: number): Promise<Outstanding<ChunkName>[]> => {
      const rows = await this.stalled(tx, limit, stalledMs)
      return rows.map((chunk) => ({ key: keyOfChunk(chunk), input: { ownerId: chunk.ownerId, n: chunk.n } }))
    }
  }
}

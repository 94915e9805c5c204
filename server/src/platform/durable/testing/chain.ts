import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../db/db.ts'
import { own } from '../../db/tx.ts'
import type { Tx } from '../../db/tx.ts'
import type { Durable } from '../durable.ts'
import { fenced } from '../fence.ts'
import { handler } from '../handler.ts'
import type { Handler } from '../handler.ts'
import { Finished } from '../step-over.ts'

/** A piece of work of three steps, each of which leaves one row. What a module's handler looks like, without a module. */
export const stepsPerPiece = 3

export interface ChainOptions {
  /** How long a step takes. */
  readonly workMs: number
  /** A piece that has not moved for this long is taken to be lost. */
  readonly stalledMs: number
  /** Written into every row, to tell apart which worker and which version of the code did it. */
  readonly worker: string
  readonly code: string
  readonly stepTimeoutMs?: number
}

export interface ChainUses {
  readonly db: Database
  readonly submitNext: (tx: Tx, key: string, input: ChainInput) => Promise<void>
}

export interface ChainInput {
  readonly piece: string
  /** Which step this is: how many were done when it was submitted. Whichever copy comes first does it. */
  readonly done: number
}

/** Rows have no unique key on purpose: were a step written twice, it would be seen. */
export async function createChainTables(db: Database): Promise<void> {
  await sql`
    create schema if not exists chain;
    create table if not exists chain.piece (
      id text primary key,
      done integer not null default 0,
      attempt integer not null default 0,
      generation integer not null default 0,
      stalls integer not null default 0,
      moved_at timestamptz not null default clock_timestamp(),
      ended_at timestamptz
    );
    create index if not exists piece_open on chain.piece (moved_at) where ended_at is null;
    create table if not exists chain.row (
      piece text not null, step integer not null, attempt integer not null, worker text not null, code text not null,
      written_at timestamptz not null default clock_timestamp()
    )`.execute(db.kysely)
}

export function chainHandler(options: ChainOptions): Handler<ChainUses, ChainInput> {
  return handler({
    name: 'chain.take-step',
    stepTimeoutMs: options.stepTimeoutMs ?? 30_000,
    outstanding: (tx, limit) => stalledPieces(tx, limit, options.stalledMs),
    run: async (use: ChainUses, input: ChainInput, { signal }) => {
      const attempt = await claim(use.db, input)
      await delay(options.workMs, undefined, { signal })
      await use.db.tx(async (tx) => {
        const moved = await sql<{ done: number; generation: number }>`
          update chain.piece set done = done + 1, generation = generation + 1, stalls = 0, moved_at = clock_timestamp(),
            ended_at = case when done + 1 = ${stepsPerPiece} then clock_timestamp() end
          where id = ${input.piece} and attempt = ${attempt} returning done, generation`.execute(own(tx))
        fenced(moved.rows)
        const { done, generation } = moved.rows[0]!
        await sql`insert into chain.row (piece, step, attempt, worker, code)
          values (${input.piece}, ${done}, ${attempt}, ${options.worker}, ${options.code})`.execute(own(tx))
        if (done < stepsPerPiece) await use.submitNext(tx, `${input.piece}:${generation}`, { piece: input.piece, done })
      })
    },
  })
}

/** Adds a piece and submits its first step, in one transaction. */
export async function addPiece(
  db: Database,
  durable: Durable,
  chain: Handler<ChainUses, ChainInput>,
  piece: string,
  at?: Date,
): Promise<void> {
  await db.tx(async (tx) => {
    await sql`insert into chain.piece (id, moved_at) values (${piece}, coalesce(${at ?? null}::timestamptz, clock_timestamp()))`.execute(
      own(tx),
    )
    await durable.submit(tx, chain, `${piece}:0`, { piece, done: 0 }, at === undefined ? {} : { at })
  })
}

async function claim(db: Database, { piece, done }: ChainInput): Promise<number> {
  const { rows } = await sql<{ attempt: number }>`
    update chain.piece set attempt = attempt + 1, moved_at = clock_timestamp()
    where id = ${piece} and done = ${done} and ended_at is null returning attempt`.execute(db.kysely)
  const [row] = rows
  if (row === undefined) throw new Finished('this step is done')
  return row.attempt
}

// The time doubles with every stall in a row: what is slow and not lost must not be made slower by submitting it again.
async function stalledPieces(tx: Tx, limit: number, stalledMs: number) {
  const { rows } = await sql<{ id: string; generation: number; done: number }>`
    update chain.piece set generation = generation + 1, stalls = stalls + 1, moved_at = clock_timestamp()
    where id in (
      select id from chain.piece
      where ended_at is null
        and moved_at < clock_timestamp() - ${stalledMs} * 2 ^ least(stalls, 6) * interval '1 millisecond'
      order by moved_at limit ${limit} for update skip locked)
    returning id, generation, done`.execute(own(tx))
  return rows.map(({ id, generation, done }) => ({ key: `${id}:${generation}`, input: { piece: id, done } }))
}

export interface ChainState {
  readonly pieces: number
  readonly ended: number
  readonly rows: number
  /** Steps written more than once. Must stay 0. */
  readonly doubled: number
}

export async function chainState(db: Database): Promise<ChainState> {
  const { rows } = await sql<ChainState>`
    select (select count(*) from chain.piece) as pieces,
           (select count(*) from chain.piece where ended_at is not null) as ended,
           (select count(*) from chain.row) as rows,
           (select count(*) from (select 1 from chain.row group by piece, step having count(*) > 1) as twice) as doubled
  `.execute(db.kysely)
  return rows[0]!
}

/** Of the pieces p-<from> up to p-<to> only: how many ended, which rows they left, and how many steps left more than one. */
export async function auditPieces(db: Database, { from, to }: { from: number; to: number }) {
  const { rows } = await sql<{ ended: number; rows: number; doubled: number }>`
    with piece as (select id, ended_at from chain.piece where substr(id, 3)::integer between ${from} and ${to}),
         step as (select r.piece, r.step, count(*) as times from chain.row r join piece p on p.id = r.piece group by 1, 2)
    select (select count(*) from piece where ended_at is not null) as ended,
           (select coalesce(sum(times), 0) from step) as rows,
           (select count(*) from step where times > 1) as doubled`.execute(db.kysely)
  return rows[0]!
}

/** Pieces whose first step has been claimed and not written. */
export async function countBegun(db: Database): Promise<number> {
  const { rows } = await sql<{ begun: number }>`
    select count(*) as begun from chain.piece where ended_at is null and attempt > 0 and done = 0`.execute(db.kysely)
  return rows[0]!.begun
}

/** Pieces that were begun and have not ended. */
export async function countUnderWay(db: Database): Promise<number> {
  const { rows } = await sql<{ begun: number }>`
    select count(*) as begun from chain.piece where ended_at is null and attempt > 0`.execute(db.kysely)
  return rows[0]!.begun
}

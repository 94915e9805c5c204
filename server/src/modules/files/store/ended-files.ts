import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { FilesTables } from './tables.ts'

const expire = statement<[number], { id: string }>(
  'files.expire',
  `update files.file set ended_at = clock_timestamp(), ended_by = 'expired'
   where id in (select id from files.file where ended_at is null and expires_at <= clock_timestamp()
                order by expires_at limit $1 for update skip locked)
     and ended_at is null
   returning id`,
)

/** Ends files whose time has come, by PostgreSQL's clock. Returns how many. */
export async function expireDueFiles(db: Db<FilesTables>, limit: number): Promise<number> {
  return (await db.run(expire, [limit])).length
}

const toClear = statement<[number], { id: string; blobs: string[] }>(
  'files.to-clear',
  `select f.id, coalesce(array_agg(p.blob) filter (where p.blob is not null), '{}') as blobs
   from (select id from files.file where ended_at is not null and cleared_at is null order by ended_at limit $1) f
   left join files.piece p on p.file_id = f.id group by f.id`,
)

/** Ended files whose bytes may still be there. */
export async function listFilesToClear(db: Db<FilesTables>, limit: number): Promise<{ id: string; blobs: string[] }[]> {
  return await db.run(toClear, [limit])
}

const cleared = statement<[string[]], { id: string }>(
  'files.cleared',
  `with gone as (delete from files.piece where file_id = any($1))
   update files.file set cleared_at = clock_timestamp() where id = any($1) and ended_at is not null and cleared_at is null
   returning id`,
)

/** Records that the bytes are gone. */
export async function markFilesCleared(db: Db<FilesTables>, ids: string[]): Promise<void> {
  await db.run(cleared, [ids])
}

const forget = statement<[number, number], { id: string }>(
  'files.forget',
  `delete from files.file where id in
     (select id from files.file where cleared_at < clock_timestamp() - $1 * interval '1 millisecond' order by cleared_at limit $2)
   returning id`,
)

/** Drops the rows that were kept for paging. */
export async function forgetClearedFiles(db: Db<FilesTables>, afterMs: number, limit: number): Promise<number> {
  return (await db.run(forget, [afterMs, limit])).length
}

const known = statement<[string[]], { blob: string }>(
  'files.known-blobs',
  `select blob from files.piece where blob = any($1) union all select blob from files.part where blob = any($1)`,
)

/** Which of these blobs belong to a file or a part. */
export async function listKnownBlobs(db: Db<FilesTables>, blobs: string[]): Promise<Set<string>> {
  return new Set((await db.run(known, [blobs])).map((row) => row.blob))
}

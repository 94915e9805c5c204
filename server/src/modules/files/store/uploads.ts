import type { PartId, ProjectId, UploadId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { FilesTables } from './tables.ts'

export interface UploadRow {
  id: string
  filename: string
  purpose: string
  bytes: number
  file_expires_seconds: number | null
  created_at: Date
  expires_at: Date
  status: 'pending' | 'completed' | 'cancelled' | 'expired'
  file_id: string | null
}

export interface PartRow {
  id: string
  blob: string
  bytes: number
  created_at: Date
}

const columns = [
  'id',
  'filename',
  'purpose',
  'bytes',
  'file_expires_seconds',
  'created_at',
  'expires_at',
  'file_id',
] as const

/** A pending upload whose hour has passed is expired, whenever the sweep comes by. */
const statusNow = sql<
  UploadRow['status']
>`case when status = 'pending' and expires_at <= clock_timestamp() then 'expired' else status end`

export interface NewUpload {
  id: UploadId
  projectId: ProjectId
  filename: string
  purpose: string
  mimeType: string
  bytes: number
  fileExpiresSeconds: number | null
  pendingSeconds: number
}

export async function insertUpload(tx: Tx, upload: NewUpload): Promise<UploadRow> {
  return await own<FilesTables>(tx)
    .insertInto('files.upload')
    .values({
      id: upload.id,
      project_id: upload.projectId,
      filename: upload.filename,
      purpose: upload.purpose,
      mime_type: upload.mimeType,
      bytes: upload.bytes,
      file_expires_seconds: upload.fileExpiresSeconds,
      // One reading of the clock for both, so that their difference is an hour.
      created_at: sql<Date>`statement_timestamp()`,
      expires_at: sql<Date>`date_trunc('second', statement_timestamp()) + ${upload.pendingSeconds} * interval '1 second'`,
    })
    .returning([...columns, statusNow.as('status')])
    .executeTakeFirstOrThrow()
}

export async function findUpload(db: Db<FilesTables>, projectId: ProjectId, id: UploadId): Promise<UploadRow | null> {
  const row = await db.kysely
    .selectFrom('files.upload')
    .select([...columns, statusNow.as('status')])
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row ?? null
}

/** Holds a pending upload as it is until the transaction ends: parts may join side by side, closing waits. */
async function sharePending(tx: Tx, projectId: ProjectId, id: UploadId): Promise<boolean> {
  const row = await own<FilesTables>(tx)
    .selectFrom('files.upload')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where(statusNow, '=', 'pending')
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Keeps a pending upload to this transaction: neither parts nor another ending come in between. False when it has ended. */
export async function lockPending(tx: Tx, projectId: ProjectId, id: UploadId): Promise<boolean> {
  const row = await own<FilesTables>(tx)
    .selectFrom('files.upload')
    .select('id')
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where(statusNow, '=', 'pending')
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export interface NewPart {
  id: PartId
  blob: string
  bytes: number
}

/** Adds a part unless the upload was closed meanwhile (null). */
export async function insertPart(
  tx: Tx,
  projectId: ProjectId,
  uploadId: UploadId,
  part: NewPart,
): Promise<PartRow | null> {
  if (!(await sharePending(tx, projectId, uploadId))) return null
  return await own<FilesTables>(tx)
    .insertInto('files.part')
    .values({ upload_id: uploadId, ...part })
    .returning(['id', 'blob', 'bytes', 'created_at'])
    .executeTakeFirstOrThrow()
}

const partSums = statement<[string], { count: number; bytes: number }>(
  'files.part-sums',
  `select count(*) as count, coalesce(sum(bytes), 0)::bigint as bytes from files.part where upload_id = $1`,
)

export async function sumParts(db: Db<FilesTables>, uploadId: UploadId): Promise<{ count: number; bytes: number }> {
  const [row] = await db.run(partSums, [uploadId])
  return row ?? { count: 0, bytes: 0 }
}

export async function listParts(db: Db<FilesTables>, uploadId: UploadId, ids: readonly PartId[]): Promise<PartRow[]> {
  return await db.kysely
    .selectFrom('files.part')
    .select(['id', 'blob', 'bytes', 'created_at'])
    .where('upload_id', '=', uploadId)
    .where('id', 'in', ids)
    .execute()
}

/** Closes a pending upload. Null when someone closed it first or its hour has passed. */
export async function closeUpload(
  tx: Tx,
  projectId: ProjectId,
  id: UploadId,
  status: 'completed' | 'cancelled',
  fileId: string | null,
): Promise<UploadRow | null> {
  const row = await own<FilesTables>(tx)
    .updateTable('files.upload')
    .set({ status, file_id: fileId })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where(statusNow, '=', 'pending')
    .returning([...columns, statusNow.as('status')])
    .executeTakeFirst()
  return row ?? null
}

/** The parts that became pieces of a file are no longer parts. */
export async function deleteParts(tx: Tx, ids: readonly string[]): Promise<void> {
  await own<FilesTables>(tx).deleteFrom('files.part').where('id', 'in', ids).execute()
}

const expire = statement<[number], { id: string }>(
  'files.expire-uploads',
  `update files.upload set status = 'expired'
   where id in (select id from files.upload where status = 'pending' and expires_at <= clock_timestamp()
                order by expires_at limit $1 for update skip locked)
     and status = 'pending'
   returning id`,
)

export async function expireDueUploads(db: Db<FilesTables>, limit: number): Promise<number> {
  return (await db.run(expire, [limit])).length
}

const toClear = statement<[number], { id: string; blobs: string[] }>(
  'files.uploads-to-clear',
  `select u.id, coalesce(array_agg(p.blob) filter (where p.blob is not null), '{}') as blobs
   from (select id from files.upload where status <> 'pending' and cleared_at is null order by id limit $1) u
   left join files.part p on p.upload_id = u.id group by u.id`,
)

/** Closed uploads that may still hold parts. */
export async function listUploadsToClear(
  db: Db<FilesTables>,
  limit: number,
): Promise<{ id: string; blobs: string[] }[]> {
  return await db.run(toClear, [limit])
}

const cleared = statement<[string[]], { id: string }>(
  'files.uploads-cleared',
  `with gone as (delete from files.part where upload_id = any($1))
   update files.upload set cleared_at = clock_timestamp() where id = any($1) and cleared_at is null returning id`,
)

export async function markUploadsCleared(db: Db<FilesTables>, ids: string[]): Promise<void> {
  await db.run(cleared, [ids])
}

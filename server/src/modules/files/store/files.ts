import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import type { FilesTables } from './tables.ts'

export interface FileRow {
  id: string
  filename: string
  purpose: string
  bytes: number
  created_at: Date
  expires_at: Date | null
}

export interface Piece {
  blob: string
  bytes: number
}

export interface NewFile {
  id: FileId
  projectId: ProjectId
  filename: string
  purpose: string
  /** From the moment of creation, by PostgreSQL's clock; null never expires. */
  expiresSeconds: number | null
  pieces: readonly Piece[]
}

const columns = 'id, filename, purpose, bytes, created_at, expires_at'
const columnNames = ['id', 'filename', 'purpose', 'bytes', 'created_at', 'expires_at'] as const
/** An expired file is gone for everybody at its second, whenever the sweep comes by. */
const live = 'ended_at is null and (expires_at is null or expires_at > clock_timestamp())'

const find = statement<[string, string], FileRow>(
  'files.find',
  `select ${columns} from files.file where id = $1 and project_id = $2 and ${live}`,
)

export async function findFile(db: Db<FilesTables>, projectId: ProjectId, id: FileId): Promise<FileRow | null> {
  const [row] = await db.run(find, [id, projectId])
  return row ?? null
}

const piecesOf = statement<[string], Piece>(
  'files.pieces',
  `select blob, bytes from files.piece where file_id = $1 order by position`,
)

export async function listPieces(db: Db<FilesTables>, id: string): Promise<Piece[]> {
  return await db.run(piecesOf, [id])
}

export async function insertFile(tx: Tx, file: NewFile): Promise<FileRow> {
  const bytes = file.pieces.reduce((sum, piece) => sum + piece.bytes, 0)
  const row = await own<FilesTables>(tx)
    .insertInto('files.file')
    .values({
      id: file.id,
      project_id: file.projectId,
      filename: file.filename,
      purpose: file.purpose,
      bytes,
      // One reading of the clock for both, so that their difference is the seconds asked for.
      created_at: sql<Date>`statement_timestamp()`,
      expires_at:
        file.expiresSeconds === null
          ? null
          : sql<Date>`date_trunc('second', statement_timestamp()) + ${file.expiresSeconds} * interval '1 second'`,
    })
    .returning(columnNames)
    .executeTakeFirstOrThrow()
  assert(file.pieces.length > 0, 'a file has at least one piece')
  await own<FilesTables>(tx)
    .insertInto('files.piece')
    .values(file.pieces.map((piece, position) => ({ file_id: file.id, position, ...piece })))
    .execute()
  return row
}

/** Ends a file on behalf of its owner. Returns whether this call was the one. */
export async function deleteFile(tx: Tx, projectId: ProjectId, id: FileId): Promise<boolean> {
  const ended = await own<FilesTables>(tx)
    .updateTable('files.file')
    .set({ ended_at: sql<Date>`clock_timestamp()`, ended_by: 'deleted' })
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where(sql<boolean>`${sql.raw(live)}`)
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}

export interface FilesPage {
  after: string | undefined
  limit: number
  order: 'asc' | 'desc'
  purpose: string | undefined
}

function listText(order: 'asc' | 'desc', after: boolean, purpose: boolean): string {
  const past = order === 'desc' ? '<' : '>'
  return `select ${columns} from files.file
    where project_id = $1 and ${live}
      ${purpose ? 'and purpose = $3' : 'and $3::text is null'}
      ${after ? `and (created_at, id) ${past} (select created_at, id from files.file where id = $4)` : 'and $4::text is null'}
    order by created_at ${order}, id ${order} limit $2`
}

type ListParams = [string, number, string | null, string | null]

/** One text per shape of the question, so that each keeps its own plan: an index scan of one page. */
const listStatements = new Map(
  (['asc', 'desc'] as const).flatMap((order) =>
    [true, false].flatMap((after) =>
      [true, false].map((purpose) => {
        const name = `files.list-${order}-${after}-${purpose}`
        return [name, statement<ListParams, FileRow>(name, listText(order, after, purpose))] as const
      }),
    ),
  ),
)

/** One row more than asked for says that there is another page. */
export async function listFiles(db: Db<FilesTables>, projectId: ProjectId, page: FilesPage): Promise<FileRow[]> {
  const list = listStatements.get(`files.list-${page.order}-${page.after !== undefined}-${page.purpose !== undefined}`)
  assert(list !== undefined, 'every shape of the list has its statement')
  return await db.run(list, [projectId, page.limit + 1, page.purpose ?? null, page.after ?? null])
}

const cursor = statement<[string, string], { id: string }>(
  'files.cursor',
  `select id from files.file where id = $1 and project_id = $2`,
)

/** Whether a page can start after this id. A file deleted a moment ago still can be paged from. */
export async function isFileCursor(db: Db<FilesTables>, projectId: ProjectId, id: string): Promise<boolean> {
  return (await db.run(cursor, [id, projectId])).length === 1
}

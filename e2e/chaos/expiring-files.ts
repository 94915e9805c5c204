import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { Readable } from 'node:stream'
import { insertFile } from '../../server/src/modules/files/store/files.ts'
import { newBlobName, type Blobs } from '#platform/blobs/blobs.ts'
import { createBlobs } from '#platform/blobs/create-blobs.ts'
import { openDatabase, type Database } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import { newId } from '#platform/std/ids.ts'
import type { Stack } from '../../dev/stack.ts'

/** The database and blobs that the stack under test works on. */
export interface Subject {
  readonly db: Database
  readonly blobs: Blobs
  readonly projectId: ProjectId
  close(): Promise<void>
}

const writersMax = 8
const fileBytes = 64

export async function openSubject(stack: Stack): Promise<Subject> {
  const db = openDatabase({
    url: stack.env['SWITCHYARD_POSTGRES_URL'] ?? '',
    connectionsMax: writersMax,
    statementTimeoutMs: 30_000,
    applicationName: 'chaos',
    onIdleError: () => undefined,
  })
  const blobs = createBlobs({ kind: 'disk', root: stack.env['SWITCHYARD_BLOBS_DIR'] ?? '' })
  const { projectId } = stack.seeded
  const close = async () => {
    await db.close()
    await blobs.close()
  }
  return { db, blobs, projectId, close }
}

const run = (db: Database, name: string, text: string) => db.run(statement<[], unknown>(name, text), [])

/** Every ending is written down by the database itself, so that a second one of the same file would show. */
export async function watchEndings({ db }: Subject): Promise<void> {
  await run(
    db,
    'chaos.table',
    'create table public.ending (file_id text not null, at timestamptz not null default clock_timestamp())',
  )
  await run(
    db,
    'chaos.function',
    `create function public.note_ending() returns trigger language plpgsql as
       $$ begin insert into public.ending (file_id) values (new.id); return new; end $$`,
  )
  await run(
    db,
    'chaos.trigger',
    `create trigger note_ending after update of ended_at on files.file
       for each row when (new.ended_at is distinct from old.ended_at) execute function public.note_ending()`,
  )
}

export async function makeFiles(
  subject: Subject,
  round: number,
  count: number,
  spreadSeconds: number,
  random: () => number,
): Promise<void> {
  let made = 0
  const writer = async () => {
    while (made < count) {
      made += 1
      const blob = newBlobName('files')
      await subject.blobs.put(blob, Readable.from([Buffer.alloc(fileBytes, round)]), { bytesMax: fileBytes })
      const expiresSeconds = 1 + Math.ceil(random() * spreadSeconds)
      await subject.db.tx((tx) =>
        insertFile(tx, {
          id: newId<FileId>('file-'),
          projectId: subject.projectId,
          filename: `round-${round}`,
          purpose: 'user_data',
          expiresSeconds,
          pieces: [{ blob, bytes: fileBytes }],
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: writersMax }, writer))
}

export interface Audit {
  readonly expired: number
  /** Not yet ended, or its bytes not yet removed. */
  readonly open: number
  readonly early: number
  readonly twice: number
  readonly blobsLeft: number
  /** How long after its due time the last file ended. */
  readonly latestSeconds: number
}

const audit = statement<
  [string],
  { expired: number; open: number; early: number; twice: number; latest: number | null }
>(
  'chaos.audit',
  `select count(*) filter (where ended_by = 'expired') as expired,
          count(*) filter (where ended_at is null or cleared_at is null) as open,
          count(*) filter (where ended_at < expires_at) as early,
          count(*) filter (where (select count(*) from public.ending e where e.file_id = f.id) > 1) as twice,
          extract(epoch from max(ended_at - expires_at))::float8 as latest
   from files.file f where filename = $1`,
)

export async function auditExpiry({ db, blobs }: Subject, round: number): Promise<Audit> {
  const [row] = await db.run(audit, [`round-${round}`])
  if (row === undefined) throw new Error('the audit gave no row')
  let blobsLeft = 0
  if (row.open === 0) for await (const _blob of blobs.list('files')) blobsLeft += 1
  return {
    expired: row.expired,
    open: row.open,
    early: row.early,
    twice: row.twice,
    blobsLeft,
    latestSeconds: Number((row.latest ?? 0).toFixed(1)),
  }
}

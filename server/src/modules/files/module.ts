import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { cancelUploadRoute } from './routes/cancel-upload.ts'
import { completeUploadRoute } from './routes/complete-upload.ts'
import { createFileRoute } from './routes/create-file.ts'
import { createUploadPartRoute } from './routes/create-upload-part.ts'
import { createUploadRoute } from './routes/create-upload.ts'
import { deleteFileRoute } from './routes/delete-file.ts'
import { listFilesRoute } from './routes/list-files.ts'
import { retrieveFileContentRoute } from './routes/retrieve-file-content.ts'
import { retrieveFileRoute } from './routes/retrieve-file.ts'
import { addFile, keepBytes, type KeptBytes, type MadeFile } from './steps/keep-file.ts'
import { openFile, type OpenedFile } from './steps/open-file.ts'
import { isReadable, readFile, type ReadFile } from './steps/read-file.ts'
import { sweepFiles, sweepOrphans } from './steps/sweep-files.ts'
import type { FilesTables } from './store/tables.ts'

export interface FilesUses {
  readonly db: Database
  readonly blobs: Blobs
  readonly log: Log
  readonly sweepMs: number
}

export interface Files {
  readonly routes: Route[]
  /** Run by the role worker. */
  readonly sweeps: Part[]
  /** A whole file for a model to read. Null when the project has no such file. */
  read(projectId: ProjectId, fileId: FileId): Promise<ReadFile | null>
  /** A file of any size, to be copied elsewhere. Null when the project has no such file. */
  open(projectId: ProjectId, fileId: FileId): Promise<OpenedFile | null>
  /** Whether `read` would give it, without reading it. */
  isReadable(projectId: ProjectId, fileId: FileId): Promise<boolean>
  /** Stores bytes that a module makes; `add` gives them to a file, and without it they are swept. */
  keep(source: AsyncIterable<Uint8Array>, limits: { bytesMax: number; signal: AbortSignal }): Promise<KeptBytes>
  /** A file of bytes that were kept. */
  add(tx: Tx, file: MadeFile): Promise<FileId>
}

const orphanSweepMs = 3_600_000
/** A dead holder of the expiry sweep is replaced after this long. */
const sweepLeaseMs = 5_000

export function createFiles({ db: database, blobs, log, sweepMs }: FilesUses): Files {
  const use = { db: database.as<FilesTables>(), blobs }
  const platform = database.as<PlatformTables>()
  return {
    read: (projectId, fileId) => readFile(use, projectId, fileId),
    open: (projectId, fileId) => openFile(use, projectId, fileId),
    isReadable: (projectId, fileId) => isReadable(use, projectId, fileId),
    keep: (source, limits) => keepBytes(blobs, source, limits),
    add: addFile,
    routes: [
      createFileRoute(use),
      listFilesRoute(use),
      retrieveFileRoute(use),
      deleteFileRoute(use),
      retrieveFileContentRoute(use),
      createUploadRoute(),
      createUploadPartRoute(use),
      completeUploadRoute(use),
      cancelUploadRoute(use),
    ],
    sweeps: [
      dueSweep({
        name: 'files.expiry',
        everyMs: sweepMs,
        leaseMs: Math.max(sweepLeaseMs, 2 * sweepMs),
        db: platform,
        log,
        run: ({ signal }) => sweepFiles(use, signal),
      }),
      dueSweep({
        name: 'files.orphans',
        everyMs: orphanSweepMs,
        leaseMs: 2 * orphanSweepMs,
        db: platform,
        log,
        roundsMax: 1,
        run: async ({ signal }) => sweepOrphans(use, await database.now(), signal),
      }),
    ],
  }
}

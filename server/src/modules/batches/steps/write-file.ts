import type { Files } from '#modules/files/index.ts'
import type { Db } from '#platform/db/db.ts'
import { newId } from '#platform/std/ids.ts'
import { fileLine } from '../domain/file-line.ts'
import { listEnded, type FileKind, type NumberedLine } from '../store/results.ts'
import type { BatchesTables } from '../store/tables.ts'

export interface WriteFileUses {
  readonly db: Db<BatchesTables>
  readonly files: Pick<Files, 'keep'>
}

/** Read at once; with them, what one page of lines takes in memory is bounded. What is small is collected young. */
const page = { linesMax: 100, bytesMax: 1024 * 1024 }
/** No answer is that long, times the lines of a batch. */
const fileBytesMax = 64 * 1024 ** 3

/** Stores the lines of one kind, in the order of the input. Null when there are none. */
export async function writeFile(
  use: WriteFileUses,
  kind: FileKind,
  batchId: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Files['keep']>> | null> {
  const first = await listEnded(use.db, kind, batchId, 0, page)
  if (first.length === 0) return null
  return await use.files.keep(linesFrom(use.db, kind, batchId, first), { bytesMax: fileBytesMax, signal })
}

async function* linesFrom(
  db: Db<BatchesTables>,
  kind: FileKind,
  batchId: string,
  first: NumberedLine[],
): AsyncGenerator<Buffer, void, void> {
  const unfinishedId = () => newId('batch_req_')
  for (let lines = first; lines.length > 0;) {
    for (const line of lines) yield Buffer.from(fileLine(line, unfinishedId))
    lines = await listEnded(db, kind, batchId, lines.at(-1)?.n ?? 0, page)
  }
}

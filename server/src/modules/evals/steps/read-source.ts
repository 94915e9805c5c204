import type { RunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Files } from '#modules/files/index.ts'
import { BlobMissing } from '#platform/blobs/blobs.ts'
import { splitLines } from '#platform/std/split-lines.ts'
import { checkRow, parseLine, rowBytesMax, type ParsedRow, type SoundRow } from '../domain/parse-row.ts'
import { RunCannotGoOn } from '../domain/run-cannot-go-on.ts'
import { rowsOfCompletions, rowsOfResponses, type StoredRowsUses } from './stored-rows.ts'

export interface ReadSourceUses extends StoredRowsUses {
  readonly files: Pick<Files, 'open'>
}

export type Source = RunDataSource['source']

/** Whether reading it again may give other rows. */
export const mayChange = ({ type }: Source): boolean => type === 'stored_completions' || type === 'responses'

/** The rows of a run, one at a time, in order. */
export async function* readSource(
  use: ReadSourceUses,
  projectId: ProjectId,
  source: Source,
): AsyncGenerator<ParsedRow, void, void> {
  switch (source.type) {
    case 'file_id':
      return yield* linesOf(use, projectId, source.id)
    case 'file_content':
      for (const [at, row] of source.content.entries()) {
        yield checkRow(row, `Row ${at + 1}`)
      }
      return
    case 'stored_completions':
      return yield* named(rowsOfCompletions(use, projectId, source))
    case 'responses':
      return yield* named(rowsOfResponses(use, projectId, source))
  }
}

async function* linesOf(use: ReadSourceUses, projectId: ProjectId, id: FileId): AsyncGenerator<ParsedRow, void, void> {
  const file = await use.files.open(projectId, id)
  if (file === null) throw new RunCannotGoOn('file_not_found', 'The file of the run was deleted or has expired.')
  try {
    for await (const { n, content } of splitLines(await file.stream(), rowBytesMax)) {
      if (content === null || !isBlank(content)) yield parseLine(content, n)
    }
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
    throw new RunCannotGoOn('source_unreadable', 'The content of the file is not there.', { cause: error })
  }
}

const isBlank = (content: Buffer) => content.length < 1_000 && content.toString('latin1').trim() === ''

async function* named(rows: AsyncIterable<Omit<SoundRow, 'name'>>): AsyncGenerator<ParsedRow, void, void> {
  let at = 0
  for await (const row of rows) yield { ...row, name: `Row ${(at += 1)}` }
}

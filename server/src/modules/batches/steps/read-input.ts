import { batchBytesMax, batchLinesMax, type BatchEndpoint, type BatchError } from '@switchyard/contracts/batches.ts'
import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Files } from '#modules/files/index.ts'
import type { Db } from '#platform/db/db.ts'
import { checkLine, type CheckUses, type LinesSeen } from '../domain/check-line.ts'
import { splitLines, type RawLine } from '#platform/std/split-lines.ts'
import type { ClaimedBatch } from '../store/lifecycle.ts'
import { insertLines, type LineRow } from '../store/lines.ts'
import type { BatchesTables } from '../store/tables.ts'

export interface ReadInputUses {
  readonly db: Db<BatchesTables>
  readonly files: Pick<Files, 'open'>
  readonly findModel: CheckUses['findModel']
  /** Input tokens of a request, from its characters. */
  readonly estimateInput: (body: Record<string, unknown>) => number
  /** Of the body of one request; a line has a little more around it. */
  readonly bodyBytesMax: number
}

/** What the input file holds: either everything is in order, or nothing of it runs. */
export interface ReadInput {
  readonly errors: readonly BatchError[]
  readonly model: string | null
  readonly lines: number
  readonly tokens: number
}

/** Shown of a file with more mistakes than that; the rest is not read. */
const errorsMax = 100
const linesPerInsert = 1_000
/** Around the body: method, url and custom_id. */
const envelopeBytesMax = 8 * 1024

const aboutFile = (code: string, message: string): BatchError => ({
  code,
  message,
  param: 'input_file_id',
  line: null,
})
const refused = (error: BatchError): ReadInput => ({ errors: [error], model: null, lines: 0, tokens: 0 })

/** Reads the input file to its end, one line in memory at a time, and writes down where each line lies. */
export async function readInput(use: ReadInputUses, batch: ClaimedBatch, signal: AbortSignal): Promise<ReadInput> {
  const file = await use.files.open(batch.project_id as ProjectId, batch.input_file_id as FileId)
  if (file === null) return refused(aboutFile('file_not_found', 'The input file was deleted or has expired.'))
  if (file.bytes > batchBytesMax) {
    return refused(aboutFile('file_too_large', `An input file has at most ${batchBytesMax} bytes.`))
  }
  const check = { endpoint: batch.endpoint as BatchEndpoint, findModel: use.findModel }
  const seen: LinesSeen = { customIds: new Set(), model: null }
  const errors: BatchError[] = []
  let rows: LineRow[] = []
  let lines = 0
  let tokens = 0
  const write = async () => {
    // A file with a mistake does not run, so its lines need not be kept.
    if (errors.length === 0 && rows.length > 0) await insertLines(use.db, batch.id, batch.attempt, rows)
    rows = []
  }
  for await (const raw of splitLines(await file.stream(), use.bodyBytesMax + envelopeBytesMax)) {
    signal.throwIfAborted()
    if (isBlank(raw)) continue
    lines += 1
    if (lines > batchLinesMax) {
      return refused(aboutFile('too_many_requests', `An input file has at most ${batchLinesMax} lines.`))
    }
    const checked = checkLine(check, seen, raw)
    if ('code' in checked) {
      errors.push(checked)
      if (errors.length >= errorsMax) break
      continue
    }
    tokens += use.estimateInput(checked.body)
    rows.push({ n: raw.n, custom_id: checked.customId, byte_offset: raw.offset, bytes: raw.bytes })
    if (rows.length >= linesPerInsert) await write()
  }
  await write()
  if (lines === 0) return refused(aboutFile('empty_file', 'The input file has no line.'))
  return { errors, model: seen.model, lines, tokens }
}

const isBlank = ({ content }: RawLine) => content !== null && content.toString('latin1').trim() === ''

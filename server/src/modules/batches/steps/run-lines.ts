import type { Files } from '#modules/files/index.ts'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import type { Lane as ChunkLane } from '#platform/durable/chunk-step.ts'
import { fenced } from '#platform/durable/fence.ts'
import { StepOver } from '#platform/durable/step-over.ts'
import { openDoor, TurnedAway, workRows } from '#platform/durable/work-rows.ts'
import { Fault } from '#platform/errors/fault.ts'
import { boundedBuffer } from '#platform/std/bytes.ts'
import { newId, newRequestId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { parseLine } from '../domain/check-line.ts'
import { noTokens, type LineTokens } from '../domain/line-tokens.ts'
import { chunks, type ClaimedChunk } from '../store/chunks.ts'
import type { LineRow } from '../store/lines.ts'
import { insertResult, type NewResult } from '../store/results.ts'
import type { BatchesTables } from '../store/tables.ts'
import type { Lanes } from '#platform/durable/lanes.ts'
import type { LineCall } from './run-line.ts'

export interface RunLinesUses {
  readonly db: Db<BatchesTables>
  readonly log: Log
  readonly files: Pick<Files, 'open'>
  readonly lanes: Lanes
  readonly runLine: (call: LineCall) => Promise<void>
}

type Lane = ChunkLane<ClaimedChunk>
type Opened = Awaited<ReturnType<Files['open']>>

/** Works on lines of a chunk, several at a time, each with a commit of its own. Returns how many were not done. */
export async function runLines(use: RunLinesUses, lane: Lane, lines: readonly LineRow[]): Promise<number> {
  const { project_id: projectId, input_file_id: fileId } = lane.chunk
  const file = await use.files.open(projectId, fileId)
  const rows = { projectId, rows: lines, door: openDoor }
  return await workRows(use.lanes, lane, rows, (line) => runOne(use, lane, file, line))
}

async function runOne(use: RunLinesUses, lane: Lane, file: Opened, line: LineRow): Promise<void> {
  const { name, chunk, signal } = lane
  const requestId = newRequestId()
  const save = async (tx: Tx, result: Omit<NewResult, 'id' | 'requestId'>) => {
    fenced(await chunks.hold(tx, name, chunk.attempt))
    fenced(await insertResult(tx, name.ownerId, line.n, { ...result, id: newId('batch_req_'), requestId }))
  }
  try {
    await use.runLine({
      charged: { orgId: chunk.org_id, projectId: chunk.project_id, keyId: chunk.key_id, requestId },
      endpoint: chunk.endpoint,
      body: await readBody(file, line),
      signal,
      commit: (tx, reply, tokens) => save(tx, resultOf(reply, tokens)),
    })
  } catch (error) {
    if (isNoResult(error) || signal.aborted) throw error
    if (!(error instanceof Fault))
      use.log.error({ err: error, batchId: name.ownerId, line: line.n }, 'a line of a batch failed')
    const fault =
      error instanceof Fault ? error : new Fault('internal_error', `Something went wrong on our side (${requestId}).`)
    await use.db.tx((tx) => save(tx, resultOf({ fault }, noTokens)))
  }
}

/** What says nothing about the line itself: it is asked again. */
function isNoResult(error: unknown): boolean {
  return (
    error instanceof TurnedAway ||
    error instanceof StepOver ||
    error instanceof CacheUnavailable ||
    isDatabaseUnavailable(error)
  )
}

async function readBody(file: Opened, line: LineRow): Promise<Record<string, unknown>> {
  if (file === null) throw new Fault('not_found', 'The input file was deleted or has expired.')
  const content = await boundedBuffer(await file.range(line.byte_offset, line.bytes), line.bytes)
  const body = parseLine(content)?.['body']
  if (typeof body !== 'object' || body === null) throw new Fault('invalid_json', 'The line cannot be read any more.')
  return body as Record<string, unknown>
}

function resultOf(reply: Parameters<LineCall['commit']>[1], tokens: LineTokens): Omit<NewResult, 'id' | 'requestId'> {
  const told = 'fault' in reply ? { status: reply.fault.status, body: reply.fault.body() } : { status: 200, ...reply }
  return { ok: !('fault' in reply), statusCode: told.status, body: JSON.stringify(told.body), tokens }
}

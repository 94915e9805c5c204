import type { Files } from '#modules/files/index.ts'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import type { Lane as ChunkLane } from '#platform/durable/chunk-step.ts'
import { fenced } from '#platform/durable/fence.ts'
import { StepOver } from '#platform/durable/step-over.ts'
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
import { TurnedAway, type LineCall } from './run-line.ts'

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
  const { chunk, pause } = lane
  const file = await use.files.open(chunk.project_id, chunk.input_file_id)
  const broken = new AbortController()
  const stop = AbortSignal.any([lane.stop, lane.signal, broken.signal])
  const waiting = [...lines]
  let failure: { error: unknown } | null = null
  let cut = 0
  const work = async () => {
    while (!stop.aborted && waiting.length > 0) {
      await pause.over(stop)
      if (!(await use.lanes.slots.take(chunk.project_id, stop))) return
      const line = pause.leftMs > 0 ? undefined : waiting.shift()
      try {
        if (line === undefined) continue
        await runOne(use, lane, file, line)
        pause.forget()
      } catch (error) {
        if (line !== undefined && error instanceof TurnedAway) {
          waiting.unshift(line)
          pause.lengthen(error.retryAfterMs)
          continue
        }
        cut += 1
        if (lane.signal.aborted) return
        failure ??= { error }
        broken.abort()
      } finally {
        use.lanes.slots.free()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(lines.length, use.lanes.concurrency) }, work))
  // Told by the workers above; the compiler does not see into them.
  const failed = failure as { error: unknown } | null
  if (failed !== null) throw failed.error
  return waiting.length + cut
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

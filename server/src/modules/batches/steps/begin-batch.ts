import type { BatchError } from '@switchyard/contracts/batches.ts'
import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { Webhooks } from '#modules/webhooks/index.ts'
import type { Tx } from '#platform/db/tx.ts'
import { fenced } from '#platform/durable/fence.ts'
import { startChunks } from '#platform/durable/start-chunks.ts'
import { assert } from '#platform/std/assert.ts'
import { noTotals } from '../domain/batch-view.ts'
import { insertChunks } from '../store/chunks.ts'
import { beginBatch, endBatch, lockQueue, queuedTokens, type ClaimedBatch } from '../store/lifecycle.ts'
import type { ReadInput } from './read-input.ts'
import type { NextUses } from './start-next.ts'

/** Of the limit group that a model draws on, how many input tokens may be queued. Null: any number. */
export interface QueueLimit {
  readonly group: string
  readonly organization: number | null
  readonly project: number | null
}

export interface BeginUses extends NextUses {
  readonly publish: Webhooks['publish']
  readonly queueLimit: (orgId: OrgId, projectId: ProjectId, model: string) => Promise<QueueLimit>
}

/** About so many lines belong to one step: few enough to be done in minutes, enough to make its own cost small. */
const linesPerChunk = 100

/** Lets a batch run, if its input is in order and fits into what may be queued; else it has failed. */
export async function begin(
  use: BeginUses,
  tx: Tx,
  batch: ClaimedBatch,
  input: ReadInput,
  limit: QueueLimit | null,
): Promise<void> {
  if (limit === null || input.errors.length > 0) return await fail(use, tx, batch, input.errors)
  assert(input.model !== null, 'a file in order names a model')
  await lockQueue(tx, batch.org_id)
  const queued = await queuedTokens(tx, batch.org_id, batch.project_id, limit.group)
  for (const level of ['organization', 'project'] as const) {
    const max = limit[level]
    if (max === null || queued[level] + input.tokens <= max) continue
    return await fail(use, tx, batch, [overQueue(level, limit.group, max, queued[level], input.tokens)])
  }
  fenced(
    await beginBatch(tx, batch.id, batch.attempt, {
      model: input.model,
      limitGroup: limit.group,
      queuedTokens: input.tokens,
      linesTotal: input.lines,
    }),
  )
  await insertChunks(tx, batch.id, batch.project_id, linesPerChunk)
  await startChunks(use, tx, batch.project_id)
}

function overQueue(level: string, group: string, max: number, queued: number, tokens: number): BatchError {
  const figures = `Limit: ${max}, queued: ${queued}, this batch: about ${tokens} tokens`
  const message = `The ${level} has reached its limit of input tokens in queued batches for ${group}. ${figures}. Wait until a batch has ended, and try again.`
  return { code: 'token_limit_exceeded', message, param: null, line: null }
}

async function fail(use: BeginUses, tx: Tx, batch: ClaimedBatch, errors: readonly BatchError[]): Promise<void> {
  const ended = { outcome: 'failed', errors, totals: noTotals, outputFileId: null, errorFileId: null } as const
  fenced(await endBatch(tx, batch.id, batch.attempt, ended))
  await use.publish(tx, { projectId: batch.project_id as ProjectId, type: 'batch.failed', data: { id: batch.id } })
}

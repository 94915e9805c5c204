import type { BatchEndpoint } from '@switchyard/contracts/batches.ts'
import { CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { CreateCompletion } from '@switchyard/contracts/completions.ts'
import { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import { httpFault, ProviderFault, type Inference } from '#modules/inference/index.ts'
import type { Charged, Limits, UsageEntry } from '#modules/limits/index.ts'
import type { Responses } from '#modules/responses/index.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { TurnedAway } from '#platform/durable/work-rows.ts'
import type { Fault } from '#platform/errors/fault.ts'
import { refuseUnstorable } from '#platform/http/storable.ts'
import { validate } from '#platform/http/validate.ts'
import { refuseSecrets } from '../domain/refuse-secrets.ts'
import { responseTokens, tokensOfCompletion, type LineTokens } from '../domain/line-tokens.ts'
import type { BatchesTables } from '../store/tables.ts'

export interface LineCall {
  /** The request id is of this line alone. */
  readonly charged: Charged
  readonly endpoint: BatchEndpoint
  readonly body: Record<string, unknown>
  readonly signal: AbortSignal
  /** Writes the result of the line, in the transaction that commits its work and its usage. */
  readonly commit: (tx: Tx, reply: { body: unknown } | { fault: Fault }, tokens: LineTokens) => Promise<void>
}

export interface RunLineUses {
  readonly db: Db<BatchesTables>
  readonly responses: Pick<Responses, 'runLine'>
  readonly inference: Pick<Inference, 'answerChat' | 'answerPrompts' | 'keepChat'>
  readonly limits: Pick<Limits, 'record' | 'spent' | 'checkSpend'>
}

/** Where the requests of an endpoint hold what a model may find too long. */
const longParam = { '/v1/responses': 'input', '/v1/chat/completions': 'messages', '/v1/completions': 'prompt' } as const

/**
 * Carries a request out as its endpoint would, whole and without admission. Throws the fault that the caller would have been
 * told when nothing was committed, and `TurnedAway` when the provider has no room now.
 */
export async function runLine(use: RunLineUses, call: LineCall): Promise<void> {
  try {
    refuseUnstorable(call.body)
    refuseSecrets(call.body)
    await use.limits.checkSpend(call.charged)
    await carryOut(use, call)
  } catch (error) {
    if (error instanceof ProviderFault && (error.kind === 'rate_limited' || error.kind === 'unavailable')) {
      throw new TurnedAway(error.retryAfterMs, error)
    }
    throw httpFault(error, longParam[call.endpoint])
  }
}

async function carryOut(use: RunLineUses, call: LineCall): Promise<void> {
  const { endpoint, body, charged, signal, commit } = call
  switch (endpoint) {
    case '/v1/responses':
      return await use.responses.runLine({
        charged,
        body: validate(CreateResponse, body),
        signal,
        commit: (tx, reply, usage) =>
          commit(tx, 'fault' in reply ? reply : { body: reply.response }, responseTokens(usage)),
      })
    case '/v1/chat/completions': {
      const asked = validate(CreateChatCompletion, body)
      const answer = await use.inference.answerChat(asked, signal)
      return await keep(use, call, 'chat_completions', answer, (tx) =>
        use.inference.keepChat(tx, charged, asked, answer),
      )
    }
    case '/v1/completions': {
      const answer = await use.inference.answerPrompts(validate(CreateCompletion, body), signal)
      return await keep(use, call, 'completions', answer)
    }
  }
}

async function keep(
  use: RunLineUses,
  { charged, commit }: LineCall,
  operation: UsageEntry['operation'],
  answer: { readonly model: string; readonly usage?: Parameters<typeof tokensOfCompletion>[0] },
  store?: (tx: Tx) => Promise<void>,
): Promise<void> {
  const tokens = tokensOfCompletion(answer.usage)
  const entry: UsageEntry = {
    ...charged,
    turn: 0,
    operation,
    model: answer.model,
    batch: true,
    outcome: 'completed',
    tokens,
  }
  await use.db.tx(async (tx) => {
    await commit(tx, { body: answer }, tokens)
    await store?.(tx)
    await use.limits.record(tx, [entry])
    tx.afterCommit(() => use.limits.spent(charged, [entry]))
  })
}

import { nextAttemptAt } from '../domain/schedule.ts'
import type { Outcome } from '../store/outcomes.ts'
import type { Sent } from './send.ts'
import type { Target } from './target.ts'

/** What is known about a delivery before its attempt. */
export interface Attempting {
  readonly eventId: string
  readonly attempts: number
  readonly round: number
  readonly firstAt: Date | null
}

/** Turns the result of an attempt into what is written about it: ended, or due again at a stated time. */
export function judge(
  attempting: Attempting,
  target: Target,
  sent: Sent,
  startedAt: Date,
  now: Date,
  scale: number,
  random: number,
): Outcome {
  const firstAt = attempting.firstAt ?? startedAt
  const round = attempting.round + 1
  const nextAt = sent.delivered
    ? null
    : nextAttemptAt({ made: round, firstAt, now, retryAfterMs: sent.retryAfterMs, scale, random })
  return {
    endpointId: target.endpointId,
    eventId: attempting.eventId,
    attemptsBefore: attempting.attempts,
    number: attempting.attempts + 1,
    at: startedAt,
    durationMs: sent.durationMs,
    url: target.url,
    statusCode: sent.statusCode,
    outcome: sent.outcome,
    responseStart: sent.responseStart,
    nextAt,
    ended: sent.delivered ? 'delivered' : nextAt === null ? 'failed' : null,
    round,
    firstAt,
  }
}

import type { Outbound } from '#platform/outbound/client.ts'
import { OutboundRefused } from '#platform/outbound/refused.ts'
import { webhookIdOf } from '../domain/delivery-id.ts'
import { parseRetryAfter } from '../domain/schedule.ts'
import { signatureOf } from '../domain/signature.ts'
import type { Target } from './target.ts'

/** What one attempt gave. */
export interface Sent {
  readonly delivered: boolean
  readonly statusCode: number | null
  /** `delivered`, `status`, `redirected`, or the reason no answer came. */
  readonly outcome: string
  readonly responseStart: string | null
  readonly retryAfterMs: number | null
  readonly durationMs: number
}

const userAgent = 'Switchyard-Webhooks/1.0'
/** A few seconds, as the receiver's contract says. */
export const answerTimeoutMs = 5_000
const responseBytesMax = 1_024
const responseStartChars = 256

function outcomeOf(status: number): string {
  if (status >= 200 && status < 300) return 'delivered'
  // Never followed: a receiver could point us anywhere.
  return status >= 300 && status < 400 ? 'redirected' : 'status'
}

/** One signed POST through the guarded client. Never throws: whatever happens is an outcome. */
export async function send(
  outbound: Outbound,
  target: Target,
  event: { id: string; body: string },
  now: Date,
): Promise<Sent> {
  const began = performance.now()
  const webhookId = webhookIdOf(event.id)
  const timestamp = Math.floor(now.getTime() / 1_000)
  try {
    const reply = await outbound.request({
      url: target.address,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'webhook-id': webhookId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(target.keys, webhookId, timestamp, event.body),
      },
      body: event.body,
      redirects: 0,
      bytesMax: responseBytesMax,
      overflow: 'truncate',
      timeoutMs: answerTimeoutMs,
    })
    const outcome = outcomeOf(reply.status)
    const retryAfter = reply.headers['retry-after']
    return {
      delivered: outcome === 'delivered',
      statusCode: reply.status,
      outcome,
      responseStart: startOf(reply.body),
      retryAfterMs: parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, now),
      durationMs: Math.round(performance.now() - began),
    }
  } catch (error) {
    const outcome = error instanceof OutboundRefused ? error.reason : 'failed'
    return {
      delivered: false,
      statusCode: null,
      outcome,
      responseStart: null,
      retryAfterMs: null,
      durationMs: Math.round(performance.now() - began),
    }
  }
}

/** The first bytes as text that can be stored. */
function startOf(body: Buffer): string | null {
  if (body.length === 0) return null
  return body.toString('utf8').replaceAll('\u0000', '').slice(0, responseStartChars).toWellFormed()
}

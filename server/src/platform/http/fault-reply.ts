import { faults, type ErrorBody } from '@switchyard/contracts/errors.ts'
import { CacheUnavailable } from '#platform/cache/unavailable.ts'
import { isDatabaseUnavailable } from '#platform/db/unavailable.ts'
import { Fault } from '#platform/errors/fault.ts'
import { noSuchPath } from './unknown-path.ts'

export interface FaultReply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: ErrorBody
  /** True when the whole chain belongs in the log: a bug or an outage, not the caller's doing. */
  readonly ours: boolean
}

const unavailableRetryMs = 1_000

/** Errors of the framework, said in our words. */
function fromFramework(code: unknown): Fault | null {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Fault('request_too_large', 'The request body is larger than this operation accepts.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Fault('unsupported_media_type', 'This Content-Type is not one that this operation reads.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Fault('invalid_json', 'The body is not as long as its Content-Length says.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return noSuchPath()
    default:
      return null
  }
}

export function faultReply(error: unknown, requestId: string): FaultReply {
  const fault = asFault(error)
  if (fault === null) {
    const message = `Something went wrong on our side. Please quote the request id ${requestId} when you ask about it.`
    return { status: 500, headers: {}, body: new Fault('internal_error', message).body(), ours: true }
  }
  const headers: Record<string, string> = { ...fault.headers }
  const { retry } = faults[fault.code] as { retry?: boolean }
  if (retry !== undefined) headers['x-should-retry'] = String(retry)
  if (fault.retryAfterMs !== undefined) {
    headers['retry-after-ms'] = String(fault.retryAfterMs)
    headers['retry-after'] = String(Math.ceil(fault.retryAfterMs / 1_000))
  }
  return { status: fault.status, headers, body: fault.body(), ours: fault.status >= 500 && fault.status !== 501 }
}

function asFault(error: unknown): Fault | null {
  if (error instanceof Fault) return error
  const known = error instanceof Error ? fromFramework((error as { code?: unknown }).code) : null
  if (known !== null) return known
  if (!isDatabaseUnavailable(error) && !(error instanceof CacheUnavailable)) return null
  return new Fault('server_overloaded', 'The server cannot take this request right now. Please try again shortly.', {
    cause: error,
    retryAfterMs: unavailableRetryMs,
  })
}

import { Fault } from '#platform/errors/fault.ts'
import { ProviderFault } from './provider-fault.ts'

/** For providers that do not say when to come back. */
const retryAfterUsualMs = 1_000

/** What a caller is told of a failure. `param` is where the request holds what was too long. */
export function httpFault(error: unknown, param: string): unknown {
  if (!(error instanceof ProviderFault)) return error
  const { kind, message, retryAfterMs } = error
  const detail = { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  switch (kind) {
    case 'rate_limited':
      return new Fault('rate_limit_exceeded', message, {
        cause: error,
        retryAfterMs: retryAfterMs ?? retryAfterUsualMs,
      })
    case 'context_length':
      return new Fault('context_length_exceeded', message, { cause: error, param })
    case 'refused':
      // The provider will say the same again.
      return new Fault('provider_error', message, { cause: error, headers: { 'x-should-retry': 'false' } })
    default:
      return new Fault('provider_error', message, detail)
  }
}

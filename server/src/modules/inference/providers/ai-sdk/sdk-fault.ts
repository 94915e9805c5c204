import { APICallError, JSONParseError, TypeValidationError } from '@ai-sdk/provider'
import { ProviderFault } from '../../domain/provider-fault.ts'
import { faultOfConnection, faultOfEvent, faultOfStatus, malformed } from '../wire/wire-fault.ts'

const causesMax = 5

/** What an error of a package means. It is not kept as a cause: it holds the whole request, prompts and all. */
export function faultOfSdk(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error
  const broken = connectionErrorIn(error)
  if (broken !== null) return faultOfConnection(broken)
  if (APICallError.isInstance(error)) {
    const { statusCode = 500, responseHeaders = {}, responseBody = '' } = error
    // A 2xx that the package could not read.
    return statusCode < 300 ? malformed('an answer') : faultOfStatus(statusCode, responseHeaders, responseBody)
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) return malformed('an event')
  return faultOfEvent(error)
}

/** `fetch` and the packages wrap what happened to the connection, each once. */
function connectionErrorIn(error: unknown): Error | null {
  let inner = error
  for (let depth = 0; depth < causesMax && inner instanceof Error; depth += 1) {
    const { code } = inner as { code?: unknown }
    if (typeof code === 'string' && /^(UND_ERR_|E[A-Z])/.test(code)) return inner
    inner = inner.cause
  }
  return null
}

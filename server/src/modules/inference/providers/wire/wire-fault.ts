import { ProviderFault } from '../../domain/provider-fault.ts'

const saidMax = 300
const contextWords =
  /context.{0,20}(length|window|size)|too many (input )?tokens|prompt is too long|maximum.{0,30}tokens/i
const contextCodes = new Set(['context_length_exceeded', 'exceed_context_size_error'])

interface Said {
  readonly code: string
  readonly message: string
}

/** What a provider's refusal says, whichever of the usual shapes it has. */
function saidBy(text: string): Said {
  try {
    const body = JSON.parse(text) as { error?: unknown; message?: unknown; detail?: unknown }
    const error = (body.error ?? body) as { code?: unknown; type?: unknown; message?: unknown; detail?: unknown }
    const message = typeof error === 'string' ? error : (error.message ?? error.detail ?? '')
    const code = typeof error === 'string' ? '' : (error.code ?? error.type ?? '')
    return { code: typeof code === 'string' ? code : '', message: typeof message === 'string' ? message : '' }
  } catch {
    return { code: '', message: '' }
  }
}

/** The provider's own words help whoever asked; addresses and keys in them are nobody's business. */
function shown(message: string): string {
  const clean = message
    .replaceAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '(address)')
    .replaceAll(/\b(sk|key|tok|bearer)[-_ ][A-Za-z0-9_*.-]{6,}/gi, '(key)')
  return clean.length > saidMax ? `${clean.slice(0, saidMax)}…` : clean
}

/** Milliseconds that the provider asks us to wait; undefined when it does not say, or says it unreadably. */
export function retryAfterOf(headers: Readonly<Record<string, unknown>>): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (ms >= 0) return ms
  const given = headers['retry-after']
  if (typeof given !== 'string') return undefined
  const seconds = given.trim() === '' ? Number.NaN : Number(given)
  if (seconds >= 0) return seconds * 1000
  const at = Date.parse(given)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** What an answer that is not a 2xx means. */
export function faultOfStatus(status: number, headers: Readonly<Record<string, unknown>>, text: string): ProviderFault {
  const said = saidBy(text)
  const retryAfterMs = retryAfterOf(headers)
  const detail = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (said.code === 'insufficient_quota') {
    return new ProviderFault('refused', "The model provider's quota is used up; the operator must see to it.")
  }
  if (status === 429)
    return new ProviderFault('rate_limited', 'The model provider is receiving too many requests.', detail)
  if (status === 408 || status >= 500) {
    return new ProviderFault('unavailable', `The model provider failed (status ${status}).`, detail)
  }
  if (status === 401 || status === 403) {
    return new ProviderFault(
      'refused',
      `The model provider did not let us in (status ${status}); the operator must check the provider's key.`,
    )
  }
  if (status >= 300 && status < 400) {
    return new ProviderFault('refused', 'The model provider sent us elsewhere; redirects are not followed.')
  }
  if (contextCodes.has(said.code) || ((status === 400 || status === 413) && contextWords.test(said.message))) {
    return new ProviderFault('context_length', 'The input is longer than the model can read.')
  }
  const why = said.message === '' ? '' : `: ${shown(said.message)}`
  return new ProviderFault('refused', `The model provider refused the request (status ${status})${why}`)
}

/** What an error event inside a stream means. */
export function faultOfEvent(error: unknown): ProviderFault {
  const said = saidBy(JSON.stringify({ error }))
  if (contextCodes.has(said.code))
    return new ProviderFault('context_length', 'The input is longer than the model can read.')
  if (said.code === 'rate_limit_exceeded' || said.code === 'rate_limit_error') {
    return new ProviderFault('rate_limited', 'The model provider is receiving too many requests.')
  }
  const why = said.message === '' ? '' : `: ${shown(said.message)}`
  return new ProviderFault('unavailable', `The model provider failed while answering${why}`)
}

const hungCodes = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** What an error of the connection means. Faults stay as they are. */
export function faultOfConnection(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error
  const { code = '' } = error as { code?: string }
  if (hungCodes.has(code)) return hung(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code.startsWith('E')) {
    return new ProviderFault('unavailable', 'The model provider could not be reached.', { cause: error })
  }
  return new ProviderFault('unavailable', 'The connection to the model provider broke.', { cause: error })
}

export function hung(cause?: unknown): ProviderFault {
  return new ProviderFault('hung', 'The model provider gave no answer in time.', { cause })
}

/** Without a cause: what was sent may be a user's words, and causes are logged. */
export function malformed(what: string): ProviderFault {
  return new ProviderFault('malformed', `The model provider sent ${what} that cannot be understood.`)
}

export function cut(): ProviderFault {
  return new ProviderFault('unavailable', 'The model provider ended the connection in the middle of its answer.')
}

/** JSON of an answer, or the fault that says it is none. */
export function parsed(text: string, what: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(what)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what)
  return value as Record<string, unknown>
}

export interface Exchange {
  readonly method: string
  readonly url: URL
  readonly requestHeaders: Headers
  /** Null when no answer came. */
  readonly status: number | null
  readonly responseHeaders: Headers
}

export interface RecordingFetch {
  readonly fetch: typeof globalThis.fetch
  readonly exchanges: Exchange[]
}

/** The platform's own fetch, with a note of every request that the SDK really sends, retries included. */
export function recordingFetch(onAnswer?: (exchange: Exchange) => Promise<void> | void): RecordingFetch {
  const exchanges: Exchange[] = []
  const record = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const sent = {
      method: (init?.method ?? 'GET').toUpperCase(),
      url: new URL(input instanceof Request ? input.url : input),
      requestHeaders: new Headers(init?.headers),
    }
    const keep = async (status: number | null, responseHeaders: Headers) => {
      const exchange = { ...sent, status, responseHeaders }
      exchanges.push(exchange)
      await onAnswer?.(exchange)
    }
    try {
      const response = await globalThis.fetch(input, init)
      await keep(response.status, response.headers)
      return response
    } catch (error) {
      await keep(null, new Headers())
      throw error
    }
  }
  // The SDK asks a fetch that does not name its Response class for one, with a request of its own.
  return { fetch: Object.assign(record, { Response }), exchanges }
}

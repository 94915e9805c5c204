export interface CountedFetch {
  readonly fetch: typeof globalThis.fetch
  /** Requests that went out, retries included. */
  readonly attempts: number
  /** Attempts that the SDK marked as retries. */
  readonly retries: number
  /** Attempts that ended without an answer. */
  readonly unanswered: number
  /** Answers of the server with a status of 500 or more. */
  readonly serverErrors: number
}

/** The platform's own fetch, counting what the SDK really sends and gets. */
export function countedFetch(): CountedFetch {
  const counts = { attempts: 0, retries: 0, unanswered: 0, serverErrors: 0 }
  const counted = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    counts.attempts += 1
    if (Number(new Headers(init?.headers).get('x-stainless-retry-count') ?? '0') > 0) counts.retries += 1
    try {
      const response = await globalThis.fetch(input, init)
      if (response.status >= 500) counts.serverErrors += 1
      return response
    } catch (error) {
      counts.unanswered += 1
      throw error
    }
  }
  return Object.assign(counts, { fetch: Object.assign(counted, { Response }) })
}

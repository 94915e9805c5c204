import { randomUUID } from 'node:crypto'
import { setTimeout as after } from 'node:timers/promises'
import { backoff } from '#platform/std/backoff.ts'
import { sendFile, type FileForm } from './send-file.ts'
import type { ServerAddress } from './server-address.ts'

const waits = { baseMs: 300, maxMs: 5_000, factor: 1.7, jitter: 0.3 }
const requestTimeoutMs = 60_000
/** Sending a large file takes its time. */
const uploadTimeoutMs = 60 * 60_000
/** How long the server may be away. */
const usualPatienceMs = 5 * 60_000
const attemptsMax = 200

/** The server understood the request and refused it: trying again would not help. */
export class ApiRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Nobody answered for as long as anybody waits. */
export class ServerAway extends Error {}

export interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  /** Instead of a body. */
  readonly form?: FileForm
  readonly signal?: AbortSignal | undefined
}

export interface Api {
  /** Sends a request until it is answered. One that makes something makes it once, however often it had to be sent. */
  call<Reply>(asked: Asked): Promise<Reply>
}

type Attempt = { readonly reply: unknown } | { readonly trouble: string; readonly waitMs: number | null }

export function openApi(
  { baseUrl, apiKey }: ServerAddress,
  onTrouble: (says: string | null) => void,
  patienceMs = usualPatienceMs,
): Api {
  async function attempt({ method, path, body, form, signal }: Asked, key: string): Promise<Attempt> {
    const bound = AbortSignal.timeout(form === undefined ? requestTimeoutMs : uploadTimeoutMs)
    const until = signal === undefined ? bound : AbortSignal.any([signal, bound])
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(method === 'POST' && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    let response: Response
    let text: string
    try {
      const url = `${baseUrl}${path}`
      response =
        form === undefined
          ? await fetch(url, {
              method,
              headers,
              signal: until,
              // The key is for this server, and a sign-in page elsewhere is no answer.
              redirect: 'manual',
              ...(body !== undefined && { body: JSON.stringify(body) }),
            })
          : await sendFile(url, headers, form, until)
      text = await response.text()
    } catch (error) {
      signal?.throwIfAborted()
      return { trouble: `${baseUrl} does not answer (${reasonOf(error)})`, waitMs: null }
    }
    const { status } = response
    if (response.ok) return { reply: replyOf(status, text) }
    if (status < 400) throw notTheApi(status, `sends on to ${response.headers.get('location') ?? 'nowhere'}`)
    const says = messageOf(text) ?? `${status} ${response.statusText}`
    // A path without an id is there on every server that has evals.
    if ((status === 404 || status === 405) && !path.includes('/', 1)) throw notTheApi(status, `answered ${says}`)
    if (!mayPass(response)) throw new ApiRefusal(status, says)
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    return { trouble: says, waitMs: Number.isFinite(seconds) ? seconds * 1_000 : null }
  }

  const notTheApi = (status: number, does: string) =>
    new ApiRefusal(status, `${baseUrl} ${does.replace(/\.$/, '')}: is it the base URL?`)

  function replyOf(status: number, text: string): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw notTheApi(status, 'answered with something else than JSON')
    }
  }

  return {
    async call(asked) {
      const key = randomUUID()
      const begun = performance.now()
      for (let failures = 1; failures <= attemptsMax; failures += 1) {
        const made = await attempt(asked, key)
        if ('reply' in made) {
          if (failures > 1) onTrouble(null)
          return made.reply as never
        }
        const leftMs = begun + patienceMs - performance.now()
        if (leftMs <= 0) throw new ServerAway(made.trouble)
        onTrouble(`${made.trouble.replace(/\.$/, '')}; trying again`)
        const waitMs = Math.min(leftMs, Math.max(made.waitMs ?? 0, backoff(waits, failures, Math.random)))
        await after(waitMs, undefined, { ...(asked.signal !== undefined && { signal: asked.signal }) })
      }
      throw new ServerAway(`${baseUrl} did not answer ${attemptsMax} times`)
    },
  }
}

const mayPass = ({ status, headers }: Response): boolean =>
  headers.get('x-should-retry') !== 'false' && (status === 408 || status === 429 || status >= 500)

function reasonOf(error: unknown): string {
  const { cause, code, name } = error as {
    cause?: { code?: string; message?: string }
    code?: string | number
    name: string
  }
  return cause?.code ?? cause?.message ?? (typeof code === 'string' ? code : name)
}

function messageOf(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error: { message: string; param?: string | null } }
    return error.param == null ? error.message : `${error.param}: ${error.message}`
  } catch {
    return null
  }
}

import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

/** A deployment known to the engine: an address, and which services it was found to have. */
export interface Deployment {
  readonly id: string
  readonly endpoint: string
  readonly services: readonly string[]
}

export interface ServiceRecord {
  readonly name: string
  readonly deployment_id: string
}

export interface AdminOptions {
  readonly url: string
  readonly timeoutMs: number
}

/** The engine said no. */
export class AdminRefused extends Error {
  override name = 'AdminRefused'
  readonly status: number

  constructor(status: number, what: string) {
    super(`the engine answered ${status} to ${what}`)
    this.status = status
  }
}

const connectionsMax = 4
const reachTimeoutMs = 3_000

/** The part of the engine's admin interface that we use. Names given to it hold no quotes (see service-name.ts). */
export class Admin {
  readonly #pool: Pool
  readonly #timeoutMs: number

  constructor({ url, timeoutMs }: AdminOptions) {
    this.#timeoutMs = timeoutMs
    this.#pool = new Pool(url, {
      connections: connectionsMax,
      connectTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
  }

  /** Lets the engine look at an address and take its services from there, over whatever it knew before. */
  async register(uri: string): Promise<void> {
    await this.#ask('POST', '/deployments', { uri, force: true })
  }

  /** Whether the engine reaches workers at this address. Its view counts, not ours. */
  async reaches(uri: string): Promise<boolean> {
    try {
      await this.#ask('POST', '/deployments', { uri, force: true, dry_run: true }, reachTimeoutMs)
      return true
    } catch (error) {
      // A frozen worker takes connections and answers nothing.
      if (error instanceof AdminRefused || (error instanceof Error && error.name === 'TimeoutError')) return false
      throw error
    }
  }

  /** The shape that the engine has learnt for a service, or null when it does not know the service. */
  async findShape(service: string): Promise<string | null> {
    try {
      const found = (await this.#ask('GET', `/services/${service}`)) as { metadata?: { shape?: string } }
      return found.metadata?.shape ?? null
    } catch (error) {
      if (error instanceof AdminRefused && error.status === 404) return null
      throw error
    }
  }

  async listDeployments(): Promise<Deployment[]> {
    return await this.query<Deployment>(`select id, endpoint, services from sys_deployment where endpoint is not null`)
  }

  async listServices(prefix: string): Promise<ServiceRecord[]> {
    const rows = await this.query<ServiceRecord>(`select name, deployment_id from sys_service`)
    return rows.filter(({ name }) => name.startsWith(`${prefix}.`))
  }

  async removeDeployment(id: string): Promise<void> {
    await this.#ask('DELETE', `/deployments/${id}?force=true`)
  }

  async pause(invocationId: string): Promise<void> {
    await this.#ask('PATCH', `/invocations/${invocationId}/pause`)
  }

  async resume(invocationId: string, on: 'latest' | 'where it was'): Promise<void> {
    const deployment = on === 'latest' ? '?deployment=latest' : ''
    await this.#ask('PATCH', `/invocations/${invocationId}/resume${deployment}`)
  }

  /** The engine's own tables, by SQL. */
  async query<Row>(query: string): Promise<Row[]> {
    const { rows } = (await this.#ask('POST', '/query', { query })) as { rows: Row[] }
    return rows
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  async #ask(
    method: Dispatcher.HttpMethod,
    path: string,
    body?: object,
    timeoutMs = this.#timeoutMs,
  ): Promise<unknown> {
    const reply = await this.#pool.request({
      method,
      path,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await reply.body.text()
    if (reply.statusCode < 200 || reply.statusCode > 299) {
      throw new AdminRefused(reply.statusCode, `${method} ${path}: ${text.slice(0, 300)}`)
    }
    return text === '' ? null : JSON.parse(text)
  }
}

import { Pool } from 'undici'
import { serviceName } from './service-name.ts'

/** One submission on its way to the engine. */
export interface Submission {
  readonly id: string
  readonly handler: string
  readonly key: string
  readonly input: unknown
  /** Until it is due, by PostgreSQL's clock when it was read. */
  readonly delayMs: number
  /** This process's monotonic clock when it was read, so that waiting here does not make it late. */
  readonly readAtMs: number
}

export interface IngressOptions {
  readonly url: string
  readonly prefix: string
  readonly connectionsMax: number
  readonly timeoutMs: number
}

export interface Ingress {
  /** Resolves once the engine has it on disk. Any other answer throws and means "later". */
  send(submission: Submission): Promise<void>
  close(): Promise<void>
}

/** Everything but a 2xx: the engine is away, replaying, or does not know the service yet. */
export class NotAccepted extends Error {
  override name = 'NotAccepted'
}

/** The engine keeps the idempotency key to itself; the step is told here, for its log line. */
export const keyHeader = 'x-switchyard-key'

/** Below this the engine's timer costs more than it is worth. */
const delayMsMin = 5

export function openIngress({ url, prefix, connectionsMax, timeoutMs }: IngressOptions): Ingress {
  const pool = new Pool(url, {
    connections: connectionsMax,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connectTimeout: timeoutMs,
  })
  return {
    async send({ handler, key, input, delayMs, readAtMs }) {
      const leftMs = Math.ceil(delayMs - (performance.now() - readAtMs))
      const delay = leftMs > delayMsMin ? `?delay=${leftMs}ms` : ''
      const reply = await pool.request({
        method: 'POST',
        path: `/${serviceName(prefix, handler)}/run/send${delay}`,
        headers: { 'content-type': 'application/json', 'idempotency-key': `${handler}:${key}`, [keyHeader]: key },
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(timeoutMs),
      })
      await reply.body.dump()
      if (reply.statusCode < 200 || reply.statusCode > 299) {
        throw new NotAccepted(`the engine answered ${reply.statusCode} to ${handler}`)
      }
    },
    close: () => pool.destroy(),
  }
}

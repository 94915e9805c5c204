import { createHash } from 'node:crypto'
import { handlers as define, service } from '@restatedev/restate-sdk'
import type { Context, EndpointOptions } from '@restatedev/restate-sdk'
import type { BoundHandler } from './handler.ts'
import { keyHeader } from './ingress.ts'
import { serviceName } from './service-name.ts'
import type { DurableCounts } from './counts.ts'
import type { Log } from '../telemetry/log.ts'
import { runStep } from './run-step.ts'

/** A service as the engine sees it. */
export interface EngineService {
  readonly name: string
  /** Changes whenever the engine must be told anew: a digest of everything that it learns at registration. */
  readonly shape: string
  readonly definition: EndpointOptions['services'][number]
}

const hourMs = 3_600_000
/** A step may wait this long for a free place in its worker before its own time begins. */
const placeWaitMs = 60_000
const abortAfterMs = 30_000

/** One to two minutes of trying, then the engine forgets the invocation and the sweep finds the row. */
const retryPolicy = {
  initialInterval: 250,
  exponentiationFactor: 2,
  maxInterval: 5_000,
  maxAttempts: 20,
  onMaxAttempts: 'kill',
} as const

export function engineService(
  prefix: string,
  handler: BoundHandler,
  told: { log: Log; counts: DurableCounts },
): EngineService {
  const options = {
    // Only the input is ever in the journal, and nobody reads it afterwards.
    journalRetention: 0,
    // As long as the relay may re-send the same key. A later copy finds its row done and ends quietly.
    idempotencyRetention: hourMs,
    // The engine first asks a silent step to suspend, which ours cannot do, then cuts it off.
    inactivityTimeout: handler.stepTimeoutMs + placeWaitMs,
    abortTimeout: abortAfterMs,
    retryPolicy,
  }
  const name = serviceName(prefix, handler.name)
  const shape = createHash('sha256')
    .update(JSON.stringify([name, options]))
    .digest('hex')
    .slice(0, 16)
  const run = async (context: Context, input: unknown): Promise<void> => {
    const request = context.request()
    const step = {
      handler,
      input,
      key: request.headers.get(keyHeader) ?? '',
      invocationId: request.id,
      signal: request.attemptCompletedSignal,
    }
    await runStep(step, told)
  }
  const definition = service({ name, metadata: { shape }, options, handlers: { run: define.handler({}, run) } })
  return { name, shape, definition }
}

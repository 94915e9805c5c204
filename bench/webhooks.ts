/**
 * Webhook delivery beside a bare loop of signed POSTs to the same sink at the same concurrency; healthy endpoints beside
 * themselves with bad neighbours; the urgent lane beside itself with a full queue.
 */
import { startTemporaryStack } from '../e2e/temporary-stack.ts'
import { benchLatency } from './webhooks-latency.ts'
import { benchThroughput } from './webhooks-throughput.ts'
import { benchUrgent } from './webhooks-urgent.ts'
import type { Figure } from './figure.ts'

export interface WebhooksSize {
  readonly rounds: number
  /** Deliveries of a throughput round, and queued behind an urgent event. */
  readonly deliveries: number
  /** Of one side of a pair of latency rounds. */
  readonly latencySeconds: number
  readonly urgentEvents: number
  /** A p99 of few events is one event: its rounds are not saved on. */
  readonly urgentRounds: number
}

/** As production runs. */
const settings = { SWITCHYARD_HTTP_CHECK_REPLIES: 'false', SWITCHYARD_LOG_LEVEL: 'warn' }

export async function benchWebhooks(
  size: WebhooksSize,
  say: (line: string) => void,
  only: readonly string[] = ['throughput', 'latency', 'urgent'],
): Promise<Figure[]> {
  const stack = await startTemporaryStack({ nodes: { api: 1 }, settings })
  try {
    return [
      ...(only.includes('throughput') ? await benchThroughput(stack, size, say) : []),
      ...(only.includes('latency') ? await benchLatency(stack, size, say) : []),
      ...(only.includes('urgent') ? await benchUrgent(stack, size, say) : []),
    ]
  } finally {
    await stack.stop()
  }
}

import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { ValkeyBuckets } from './valkey-buckets.ts'

const beatEveryMs = 5_000
/** A process that is silent for this long has lost its reservations. */
const aliveMs = 15_000

export interface Heartbeat extends Part {
  /** Nobody could say lately that they are alive: Valkey was away. */
  readonly interrupted: boolean
}

/** Says every few seconds that this process is alive: its reservations hang on that. */
export function heartbeat(use: {
  readonly buckets: ValkeyBuckets
  readonly log: Log
  readonly node: string
}): Heartbeat {
  let timer: NodeJS.Timeout | undefined
  let failedAt = -Infinity
  const beat = () => {
    use.buckets.beat(use.node, aliveMs).catch((err: unknown) => {
      failedAt = performance.now()
      use.log.debug({ err }, 'no heartbeat without Valkey')
    })
  }
  return {
    get interrupted() {
      return performance.now() - failedAt < aliveMs
    },
    name: 'limit heartbeat',
    async start() {
      beat()
      timer = setInterval(beat, beatEveryMs)
    },
    async stop() {
      clearInterval(timer)
      // Without Valkey there is nobody to tell, and the last one passes by itself.
      await use.buckets.endBeat(use.node).catch(() => undefined)
    },
  }
}

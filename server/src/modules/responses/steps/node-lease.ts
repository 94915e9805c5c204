import type { Db } from '#platform/db/db.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { forgetNode, renewNode } from '../store/nodes.ts'
import type { ResponsesTables } from '../store/tables.ts'

const renewEveryMs = 5_000
/** A process that is silent for this long has lost the foreground responses it held. */
export const nodeAliveMs = 15_000

/** Says every few seconds that this process is alive: its foreground responses hang on that. */
export function nodeLease(use: {
  readonly db: Db<ResponsesTables>
  readonly log: Log
  readonly node: string
  /** Ends what this process holds no longer although the store thinks so. */
  readonly settle: () => Promise<void>
}): Part {
  let timer: NodeJS.Timeout | undefined
  const renew = async () => {
    try {
      await renewNode(use.db, use.node, nodeAliveMs)
      await use.settle()
    } catch (err) {
      use.log.warn({ err }, 'this node could not say that it is alive, or end what it has lost')
    }
  }
  return {
    name: 'response node lease',
    async start() {
      await renewNode(use.db, use.node, nodeAliveMs)
      timer = setInterval(() => void renew(), renewEveryMs)
    },
    async stop() {
      clearInterval(timer)
      await forgetNode(use.db, use.node)
    },
  }
}

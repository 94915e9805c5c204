import type { Socket } from 'node:net'
import type { Passage } from './passage.ts'
import type { Reason } from './reasons.ts'
import type { Visit } from './visit.ts'

export const IDLE_TIMEOUT_MS = 300_000

/** Joins two sockets until both are through, byte for byte, and leaves the receipt. */
export function splice(passage: Passage, visit: Visit, inner: Socket, outer: Socket): void {
  let reason: Reason | null = null
  let open = 2
  const over = () => {
    open -= 1
    if (open > 0) return
    const cut = visit.cutFor ?? reason
    passage.receipt({
      host: visit.host,
      port: visit.port,
      bytesIn: outer.bytesRead,
      bytesOut: outer.bytesWritten,
      verdict: cut === null || cut === 'idle' ? 'allowed' : 'failed',
      reason: cut,
    })
  }
  const join = (from: Socket, to: Socket) => {
    from.setTimeout(IDLE_TIMEOUT_MS, () => {
      reason ??= 'idle'
      visit.close()
    })
    from.on('error', () => to.destroy())
    from.once('close', (broken) => {
      if (broken) to.destroy()
      else to.destroySoon()
      over()
    })
    from.pipe(to)
  }
  join(inner, outer)
  join(outer, inner)
}

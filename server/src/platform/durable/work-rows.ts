import type { Lane } from './chunk-step.ts'
import type { Lanes } from './lanes.ts'

/** A provider has no room for a row now. Nothing of it was said or stored: it may be asked again. */
export class TurnedAway extends Error {
  override name = 'TurnedAway'
  readonly retryAfterMs: number | undefined

  constructor(retryAfterMs: number | undefined, cause: unknown) {
    super('the provider has no room for this row now', { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** A row that had to wait gave its slot to others. Nothing of it was said or stored: it is begun again. */
export class SteppedAside extends Error {
  override name = 'SteppedAside'

  constructor() {
    super('the row gave its slot to others')
  }
}

/** By it each row comes in, before it has a slot. */
export interface Door<Ticket> {
  /** Null when the signal came first. */
  enter(stop: AbortSignal): Promise<Ticket | null>
  leave(ticket: Ticket): void
}

export const openDoor: Door<true> = { enter: async () => true, leave: () => undefined }

export interface Rows<Row, Ticket> {
  readonly projectId: string
  readonly rows: readonly Row[]
  readonly door: Door<Ticket>
}

/** Works on rows of a chunk, several at a time. Returns how many were not done. */
export async function workRows<Row, Ticket>(
  lanes: Lanes,
  lane: Pick<Lane<unknown>, 'pause' | 'stop' | 'signal'>,
  { projectId, rows, door }: Rows<Row, Ticket>,
  workOn: (row: Row, ticket: Ticket) => Promise<void>,
): Promise<number> {
  const { pause } = lane
  const broken = new AbortController()
  const stop = AbortSignal.any([lane.stop, lane.signal, broken.signal])
  const waiting = [...rows]
  let failure: { error: unknown } | null = null
  let cut = 0
  const begin = async (ticket: Ticket) => {
    const row = pause.leftMs > 0 ? undefined : waiting.shift()
    if (row === undefined) return
    try {
      await workOn(row, ticket)
      pause.forget()
    } catch (error) {
      if (error instanceof TurnedAway || error instanceof SteppedAside) {
        waiting.unshift(row)
        if (error instanceof TurnedAway) pause.lengthen(error.retryAfterMs)
        return
      }
      cut += 1
      if (lane.signal.aborted) return
      failure ??= { error }
      broken.abort()
    }
  }
  const work = async () => {
    while (!stop.aborted && waiting.length > 0) {
      await pause.over(stop)
      const ticket = await door.enter(stop)
      if (ticket === null) return
      if (await lanes.slots.take(projectId, stop)) await begin(ticket).finally(() => lanes.slots.free(projectId))
      door.leave(ticket)
    }
  }
  await Promise.all(Array.from({ length: Math.min(rows.length, lanes.concurrency) }, work))
  // Told by the workers above; the compiler does not see into them.
  const failed = failure as { error: unknown } | null
  if (failed !== null) throw failed.error
  return waiting.length + cut
}

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

/** Works on rows of a chunk, several at a time. Returns how many were not done. */
export async function workRows<Row>(
  lanes: Lanes,
  lane: Pick<Lane<unknown>, 'pause' | 'stop' | 'signal'>,
  { projectId, rows }: { readonly projectId: string; readonly rows: readonly Row[] },
  workOn: (row: Row) => Promise<void>,
): Promise<number> {
  const { pause } = lane
  const broken = new AbortController()
  const stop = AbortSignal.any([lane.stop, lane.signal, broken.signal])
  const waiting = [...rows]
  let failure: { error: unknown } | null = null
  let cut = 0
  const work = async () => {
    while (!stop.aborted && waiting.length > 0) {
      await pause.over(stop)
      if (!(await lanes.slots.take(projectId, stop))) return
      const row = pause.leftMs > 0 ? undefined : waiting.shift()
      try {
        if (row === undefined) continue
        await workOn(row)
        pause.forget()
      } catch (error) {
        if (row !== undefined && error instanceof TurnedAway) {
          waiting.unshift(row)
          pause.lengthen(error.retryAfterMs)
          continue
        }
        cut += 1
        if (lane.signal.aborted) return
        failure ??= { error }
        broken.abort()
      } finally {
        lanes.slots.free()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(rows.length, lanes.concurrency) }, work))
  // Told by the workers above; the compiler does not see into them.
  const failed = failure as { error: unknown } | null
  if (failed !== null) throw failed.error
  return waiting.length + cut
}

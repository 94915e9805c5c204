import { OutboundRefused } from './refused.ts'

type Stop = (reason: Error) => void

/** Takes what has to be stopped when the deadline passes; it stops at once if it has passed already. */
export type Guard = (stop: Stop) => void

/** One deadline, by time or by the caller's signal, over all hops of a request. */
export function startDeadline(timeoutMs: number, signal: AbortSignal | undefined) {
  let stop: Stop | undefined
  let passed: Error | undefined
  const end = (reason: Error): void => {
    passed = reason
    stop?.(reason)
  }
  const timer = setTimeout(() => end(new OutboundRefused('timed_out', 'No complete reply came in time.')), timeoutMs)
  const onAbort = (): void => end(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    guard: (next: Stop): void => {
      stop = next
      if (passed !== undefined) next(passed)
    },
    clear: (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

const STOP_SIGNALS = { SIGTERM: 15, SIGINT: 2 } as const

export type StopSignal = keyof typeof STOP_SIGNALS

/**
 * Calls the handler on the first SIGTERM or SIGINT. A second one, from somebody who does not want to wait, ends the
 * process at once. Returns how to stop listening.
 */
export function onStopSignal(handler: (signal: StopSignal) => void): () => void {
  let asked = false
  const receive = (signal: StopSignal) => {
    if (asked) process.exit(128 + STOP_SIGNALS[signal])
    asked = true
    handler(signal)
  }
  process.on('SIGTERM', receive)
  process.on('SIGINT', receive)
  return () => {
    process.off('SIGTERM', receive)
    process.off('SIGINT', receive)
  }
}

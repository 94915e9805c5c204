import type { CallKind } from './row-calls.ts'

export interface BareLoop {
  readonly url: string
  /** As the provider got them from the run. */
  readonly bodies: Readonly<Record<CallKind, string>>
  readonly from: number
  readonly rows: number
  readonly workers: number
}

export interface BareRound {
  readonly rowsPerSecond: number
  /** Of the loop itself, for a row. */
  readonly cpuMicros: number
}

/** What one Python grader, and all of them in this process, may take. */
export interface PythonBounds {
  /** From the beginning of a row to its result. */
  readonly rowMs: number
  /** Item and sample, as JSON. */
  readonly rowBytesMax: number
  readonly batchRowsMax: number
  readonly batchBytesMax: number
  /** After so long a batch begins no more rows; they are the next one's. */
  readonly batchMs: number
  /** Address space of the process of a row. */
  readonly rowMemoryBytes: number
  /** Rows that come within it are one batch. */
  readonly gatherMs: number
  /** In this process. Not above the number of containers: a batch has one to itself. */
  readonly batchesAtOnce: number
  readonly containersMax: number
  readonly idleMs: number
  /** Rows that wait, of all runs. */
  readonly waitingBytesMax: number
  /** How often a row is tried that our own machinery let down. */
  readonly triesMax: number
}

const mib = 1024 * 1024

export const pythonBounds: PythonBounds = {
  rowMs: 10_000,
  rowBytesMax: mib,
  batchRowsMax: 50,
  batchBytesMax: 8 * mib,
  batchMs: 60_000,
  rowMemoryBytes: 768 * mib,
  gatherMs: 5,
  batchesAtOnce: 4,
  containersMax: 8,
  idleMs: 60_000,
  waitingBytesMax: 256 * mib,
  triesMax: 3,
}

/** Above all that a batch may take by itself: ending what its last row started, and removing its files. */
const graceMs = 30_000

export const commandMs = ({ batchMs, rowMs }: PythonBounds): number => batchMs + rowMs + graceMs

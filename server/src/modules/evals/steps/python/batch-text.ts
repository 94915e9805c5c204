import { readFileSync } from 'node:fs'
import type { PythonBounds } from './bounds.ts'

export const batchFilename = 'batch.jsonl'

let harness: string | null = null

/** The harness goes with the command: a file of it would be the grader's to change. */
export function batchCommand(): string {
  harness ??= readFileSync(new URL('harness.py', import.meta.url), 'utf8')
  return `exec python3 -I -c '${harness.replaceAll("'", `'\\''`)}' /mnt/data/${batchFilename}`
}

/** A line with the source and the limits, then a line for each row. */
export function batchFile(source: string, rows: readonly string[], bounds: PythonBounds): Buffer {
  const { rowMs, batchMs, rowMemoryBytes } = bounds
  const head = JSON.stringify({ source, row_ms: rowMs, batch_ms: batchMs, memory_bytes: rowMemoryBytes })
  return Buffer.from([head, ...rows, ''].join('\n'))
}

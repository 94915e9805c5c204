import type { WriteStream } from 'node:tty'
import { inColour, plain, type Paint } from './display.ts'
import { progressLine, type Progress } from './progress.ts'

/** Logs have no width: there is room for every word. */
const plainColumns = 200
const columnsUsual = 80
const columnsMin = 20
const plainEveryMs = 5_000
const clearLine = '\r\u001b[2K'

/** Enough of a stream to draw on. */
export type Sheet = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>>

export const paintOf = (sheet: Sheet): Paint =>
  sheet.isTTY === true && sheet.hasColors?.() === true ? inColour : plain
export const columnsOf = ({ isTTY = false, columns = 0 }: Sheet): number => {
  if (!isTTY) return plainColumns
  // Some terminals do not know how wide they are, and say 0.
  return columns === 0 ? columnsUsual : Math.max(columnsMin, columns)
}

/** Shows how far a run is: one line that is drawn again and again, or, where nobody watches, a line now and then. */
export class Screen {
  readonly #sheet: Sheet
  #progress: Progress | null = null
  #trouble: string | null = null
  #drawn = false
  #told = { at: Number.NEGATIVE_INFINITY, line: '' }

  constructor(sheet: Sheet) {
    this.#sheet = sheet
  }

  show(progress: Progress): void {
    this.#progress = progress
    this.#draw()
  }

  trouble(says: string | null): void {
    this.#trouble = says
    this.#draw()
  }

  say(line: string): void {
    this.clear()
    this.#sheet.write(`${line}\n`)
  }

  clear(): void {
    if (this.#drawn) this.#sheet.write(clearLine)
    this.#drawn = false
  }

  #draw(): void {
    const none = {
      status: 'queued',
      counts: noCounts,
      rowsTotal: null,
      rowsPerSecond: null,
      elapsedMs: 0,
      trouble: null,
    }
    if (this.#progress === null && this.#trouble === null) return
    const progress: Progress = { ...(this.#progress ?? none), trouble: this.#trouble }
    if (this.#sheet.isTTY !== true) return this.#tell(progressLine(progress, plainColumns, plain))
    // The last column stays free: some terminals go on in the next line as soon as it is written.
    this.#sheet.write(clearLine + progressLine(progress, columnsOf(this.#sheet) - 1, paintOf(this.#sheet)))
    this.#drawn = true
  }

  #tell(line: string): void {
    const now = performance.now()
    if (line === this.#told.line || now - this.#told.at < plainEveryMs) return
    this.#told = { at: now, line }
    this.#sheet.write(`${line}\n`)
  }
}

const noCounts = { total: 0, passed: 0, failed: 0, errored: 0 }

import { percent } from '#platform/std/percent.ts'
import { clip, duration, grouped, widthOf, type Paint } from './display.ts'

export interface Counts {
  readonly total: number
  readonly passed: number
  readonly failed: number
  readonly errored: number
}

/** What is known of a run while it goes on. */
export interface Progress {
  readonly status: string
  readonly counts: Counts
  /** Null where only the server knows how many rows there are. */
  readonly rowsTotal: number | null
  /** Null until there is something to say. */
  readonly rowsPerSecond: number | null
  readonly elapsedMs: number
  /** Why there is no news, if there is none. */
  readonly trouble: string | null
}

/** Few widths, so that the bar keeps its own while the numbers beside it grow. */
const barWidths = [30, 20, 10, 6]

function bar(part: number, columns: number, paint: Paint): string {
  const full = Math.min(columns, Math.floor(part * columns))
  return paint('cyan', '█'.repeat(full)) + '░'.repeat(columns - full)
}

function leftOf({ counts, rowsTotal, rowsPerSecond }: Progress): string | null {
  if (rowsTotal === null || rowsPerSecond === null || rowsPerSecond === 0 || counts.total >= rowsTotal) return null
  return `${duration(Math.max(1_000, ((rowsTotal - counts.total) / rowsPerSecond) * 1_000))} left`
}

function speedOf({ rowsPerSecond }: Progress): string | null {
  if (rowsPerSecond === null) return null
  return `${rowsPerSecond < 10 ? rowsPerSecond.toFixed(1) : grouped(Math.round(rowsPerSecond))} rows/s`
}

const outcomes = ({ passed, failed, errored }: Counts, paint: Paint, words: boolean) =>
  [
    paint('green', `${grouped(passed)} ${words ? 'passed' : '✓'}`),
    paint('red', `${grouped(failed)} ${words ? 'failed' : '✗'}`),
    paint('magenta', `${grouped(errored)} ${words ? 'errored' : '!'}`),
  ].join(words ? ', ' : ' ')

const stripped = (text: string) => text.replaceAll(/\u001b\[\d+m/g, '')

/** What to say, the richest that fits into one line. */
export function progressLine(progress: Progress, columns: number, paint: Paint): string {
  const { counts, rowsTotal, status, trouble } = progress
  if (trouble !== null) return clip(trouble, columns)
  if (status === 'queued') {
    const since = progress.elapsedMs < 1_000 ? '' : `, ${duration(progress.elapsedMs)}`
    return clip(`Waiting to start${since}`, columns)
  }
  const rows = rowsTotal === null ? grouped(counts.total) : `${grouped(counts.total)}/${grouped(rowsTotal)}`
  const share = rowsTotal === null ? null : percent(counts.total, rowsTotal)
  const pace = [speedOf(progress), leftOf(progress)].filter((one) => one !== null)
  const said = (words: boolean, ...more: (string | null)[]) =>
    [share, rows, outcomes(counts, paint, words), ...more].filter((one) => one !== null).join('  ')
  const texts = [
    said(true, ...pace),
    said(false, ...pace),
    said(false, leftOf(progress)),
    said(false),
    [share, outcomes(counts, paint, false)].filter((one) => one !== null).join('  '),
    outcomes(counts, paint, false),
  ]
  const text = texts.find((one) => widthOf(stripped(one)) <= columns)
  if (text === undefined) return clip(share ?? rows, columns)
  const space = columns - widthOf(stripped(text)) - 2
  const width = barWidths.find((one) => one <= space)
  if (rowsTotal === null || width === undefined) return text
  return `${bar(rowsTotal === 0 ? 0 : counts.total / rowsTotal, width, paint)}  ${text}`
}

const paceWindowMs = 20_000
const paceSamplesMax = 64

/** How fast rows were done lately: what was true a while ago says little about what is left. */
export class Pace {
  readonly #samples: { readonly at: number; readonly done: number }[] = []

  add(at: number, done: number): void {
    this.#samples.push({ at, done })
    while (this.#samples.length > paceSamplesMax || at - (this.#samples[1]?.at ?? at) > paceWindowMs) {
      this.#samples.shift()
    }
  }

  rowsPerSecond(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (first === undefined || last === undefined || last.at === first.at || last.done === 0) return null
    return ((last.done - first.done) * 1_000) / (last.at - first.at)
  }
}

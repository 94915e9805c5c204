import { OutputItemStatus } from '@switchyard/contracts/evals/output-items.ts'
import type { Place } from '../store/report-rows.ts'

/** What of a run is looked at; all of it stands in the address. */
export interface ReportQuery {
  readonly show: OutputItemStatus | null
  readonly from: Place | null
  readonly way: 'after' | 'before'
  /** Asks itself again while the run is under way. */
  readonly live: boolean
  /** A row to go to, counted from 1. */
  readonly row: number | null
}

const placeForm = /^(error|fail|pass)-(0|[1-9]\d{0,8})$/
const rowForm = /^[1-9]\d{0,8}$/

/** Anything that is not in order counts as not there: an address can be typed. */
export function readReportQuery(query: URLSearchParams): ReportQuery {
  const show = OutputItemStatus.safeParse(query.get('show'))
  const way = query.get('before') === null ? 'after' : 'before'
  const [, status, n] = placeForm.exec(query.get(way) ?? '') ?? []
  const row = query.get('row')?.trim() ?? ''
  return {
    show: show.success ? show.data : null,
    from: status === undefined ? null : { status: status as OutputItemStatus, n: Number(n) },
    way: status === undefined ? 'after' : way,
    live: query.get('live') !== 'off',
    row: rowForm.test(row) ? Number(row) : null,
  }
}

export const reportPath = (evalId: string, runId: string): string => `/dashboard/evals/${evalId}/runs/${runId}`

/** The address that shows what the query asks for. */
export function reportHref(path: string, { show, from, way, live }: Partial<ReportQuery>): string {
  const query = new URLSearchParams()
  if (show != null) query.set('show', show)
  if (from != null && way !== undefined) query.set(way, `${from.status}-${from.n}`)
  if (live === false) query.set('live', 'off')
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

export function rowHref(path: string, n: number, show: OutputItemStatus | null): string {
  return `${path}/rows/${n + 1}${show === null ? '' : `?show=${show}`}`
}

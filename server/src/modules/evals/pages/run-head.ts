import { html, type Html } from '#platform/http/pages/html.ts'
import { percent } from '#platform/std/percent.ts'
import type { Totals } from '../domain/totals.ts'
import type { RunRow } from '../store/runs.ts'
import { count, duration, instant } from './figures.ts'
import { stateBadge, totalsBar } from './marks.ts'

export const refreshSeconds = 5
/** Before that, the time left would be a guess. */
const rowsToTellTime = 20

export interface Headed {
  readonly evalName: string
  readonly run: RunRow
  readonly totals: Totals
  readonly now: Date
  readonly live: boolean
  /** The same page, asking itself again or not. */
  readonly liveHref: string
}

export const isOver = ({ ended_at: endedAt }: RunRow): boolean => endedAt !== null

const doneOf = ({ passed, failed, errored }: Totals): number => passed + failed + errored

export function runHead({ evalName, run, now }: Headed): Html {
  const { started_at: startedAt, ended_at: endedAt } = run
  return html`<div class="head">
    <p class="crumbs" dir="auto">${evalName}</p>
    <div class="title">
      <h1 dir="auto">${run.name === '' ? run.id : run.name}</h1>
      ${stateBadge(run.status)}
    </div>
    <dl class="facts">
      ${fact('Model', run.model ?? 'none, the rows bring their outputs')}
      ${fact('Created', html`<time datetime="${run.created_at.toISOString()}">${instant(run.created_at)}</time>`)}
      ${startedAt !== null && fact(endedAt === null ? 'Running for' : 'Took', duration((endedAt ?? now).getTime() - startedAt.getTime()))}
      ${fact('Run', html`<code>${run.id}</code>`)}
    </dl>
  </div>`
}

const fact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd dir="auto">${value}</dd>
  </div>`

/** Why a run ended before its rows did. */
export function runError({ run: { status, error } }: Headed): Html | null {
  if (error === null) return null
  return html`<p class="callout bad" role="alert" dir="auto">
    <strong>${status === 'failed' ? 'The run failed.' : 'The run ended.'}</strong> ${error.message}
    <code>${error.code}</code>
  </p>`
}

export function runTotals(headed: Headed): Html {
  const { run, totals } = headed
  const done = doneOf(totals)
  const judged = totals.passed + totals.failed
  const whole = run.loaded ? run.rows_total : done
  return html`<section class="card" aria-label="Results">
    <dl class="tiles">
      ${tile('Pass rate', null, percent(totals.passed, judged), `of ${count(judged)} judged`)}
      ${tile('Passed', 'good', count(totals.passed))} ${tile('Failed', 'bad', count(totals.failed))}
      ${tile('Errored', 'odd', count(totals.errored))}
    </dl>
    ${totalsBar(totals, whole)} ${!isOver(run) && progress(headed, done)}
    ${isOver(run) && done < run.rows_total && html`<p class="note">${count(run.rows_total - done)} of ${count(run.rows_total)} rows were not graded.</p>`}
  </section>`
}

const tile = (name: string, tone: string | null, value: string, more = ''): Html =>
  html`<div class="tile">
    <dt>${tone !== null && html`<span class="dot ${tone}"></span>`}${name}</dt>
    <dd>${value}${more !== '' && html` <small>${more}</small>`}</dd>
  </div>`

function progress({ run, now, live, liveHref }: Headed, done: number): Html {
  const said = run.loaded
    ? html`${count(done)} of ${count(run.rows_total)} rows, ${percent(done, run.rows_total)}${timeLeft(run, done, now)}`
    : html`${run.status === 'queued' ? 'Waiting to begin' : 'Reading the rows'}`
  return html`<p class="note" role="status">
    ${said} · ${live ? `Updated every ${refreshSeconds} s` : 'Not updated'}.
    <a href="${liveHref}">${live ? 'Pause' : 'Go on updating'}</a>
  </p>`
}

function timeLeft({ started_at: startedAt, rows_total: whole }: RunRow, done: number, now: Date): string {
  if (startedAt === null || done < rowsToTellTime) return ''
  const perRow = (now.getTime() - startedAt.getTime()) / done
  return ` · about ${duration(perRow * (whole - done))} left`
}

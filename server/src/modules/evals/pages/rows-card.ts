import type { OutputItemStatus } from '@switchyard/contracts/evals/output-items.ts'
import { html, type Html } from '#platform/http/pages/html.ts'
import { comparedTexts, cut, scopeOfRow, type Compared } from '../domain/compared.ts'
import type { Criterion } from '../domain/criteria.ts'
import type { Totals } from '../domain/totals.ts'
import type { ListedRow } from '../store/report-rows.ts'
import { count, score } from './figures.ts'
import { expectedText, gotText, outcomeBadge, outcomes } from './marks.ts'
import { reportHref, rowHref, type ReportQuery } from './report-query.ts'

export interface ShownRows {
  readonly path: string
  readonly query: ReportQuery
  readonly totals: Totals
  readonly criteria: readonly Criterion[]
  /** The outputs are a model's, and not the rows' own. */
  readonly asked: boolean
  readonly rows: readonly ListedRow[]
  readonly hasEarlier: boolean
  readonly hasLater: boolean
  readonly over: boolean
}

const fieldsMax = 6
const fieldMax = 160
const outputMax = 400
const checksMax = 6

export function rowsCard(shown: ShownRows): Html {
  return html`<section class="card" aria-labelledby="rows">
    <div class="tools">
      <h2 id="rows">Rows</h2>
      <form class="inline" method="get" action="${shown.path}">
        <label for="row">Go to row</label>
        <input id="row" name="row" inputmode="numeric" pattern="[0-9]*" autocomplete="off" required /><button>
          Go
        </button>
      </form>
    </div>
    <nav aria-label="Which rows">${tabs(shown)}</nav>
    ${shown.rows.length === 0 ? nothing(shown) : rowsTable(shown)} ${pager(shown)}
  </section>`
}

function tabs({ path, query: { show, live }, totals }: ShownRows): Html {
  const { passed, failed, errored } = totals
  const all = { status: null, word: 'All, failing first', rows: passed + failed + errored, tone: null }
  const each = ([status, rows]: readonly [OutputItemStatus, number]) => ({ status, rows, ...outcomes[status] })
  const list = [
    all,
    ...(
      [
        ['error', errored],
        ['fail', failed],
        ['pass', passed],
      ] as const
    ).map(each),
  ]
  return html`<ul class="tabs">
    ${list.map(
      ({ status, word, rows, tone }) =>
        html`<li>
          <a href="${reportHref(path, { show: status, live })}" ${status === show && html`aria-current="page"`}
            >${tone !== null && html`<span class="dot ${tone}"></span>`}${word} <span>${count(rows)}</span></a
          >
        </li>`,
    )}
  </ul>`
}

function nothing({ query: { show, from }, over }: ShownRows): Html {
  if (from !== null) return html`<p class="none">There are no more rows this way.</p>`
  if (show !== null)
    return html`<p class="none">No row ${over ? 'has' : 'has so far'} ${outcomes[show].word.toLowerCase()}.</p>`
  return html`<p class="none">${over ? 'No row was graded.' : 'No row has been graded yet.'}</p>`
}

const rowsTable = (shown: ShownRows): Html =>
  html`<table class="rows" role="table">
    <colgroup>
      <col class="c-row" />
      <col class="c-outcome" />
      <col class="c-item" />
      <col />
      <col class="c-criteria" />
    </colgroup>
    <thead role="rowgroup">
      <tr role="row">
        ${['Row', 'Outcome', 'Item', 'What came out', 'Criteria'].map(
          (name) => html`<th scope="col" role="columnheader">${name}</th>`,
        )}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${shown.rows.map((row) => rowLine(shown, row))}
    </tbody>
  </table>`

function rowLine(shown: ShownRows, row: ListedRow): Html {
  return html`<tr role="row">
    <td role="cell">
      <a href="${rowHref(shown.path, row.n, shown.query.show)}"><span class="hidden">Row </span>${count(row.n + 1)}</a>
    </td>
    <td role="cell">${outcomeBadge(row.status)}</td>
    <td role="cell">${itemFields(row.item)}</td>
    <td role="cell">${cameOut(shown, row)}</td>
    <td role="cell">${checks(shown.criteria, row)}</td>
  </tr>`
}

const tooLarge = html`<span class="none">Too large to show here. Open the row to see it.</span>`

function itemFields(item: ListedRow['item']): Html {
  if (item === null) return tooLarge
  const fields = Object.entries(item)
  if (fields.length === 0) return html`<span class="none">Empty</span>`
  return html`<dl class="fields">
      ${fields.slice(0, fieldsMax).map(([name, value]) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        return html`<div dir="auto">
          <dt>${cut(name, fieldMax)}</dt>
          <dd>${cut(text, fieldMax)}</dd>
        </div>`
      })}
    </dl>
    ${fields.length > fieldsMax && html`<div class="sub">and ${fields.length - fieldsMax} more</div>`}`
}

/** Why it erred; else, of a failed row, what was expected and what came; else the output. */
function cameOut(shown: ShownRows, row: ListedRow): Html {
  if (row.status === 'error')
    return html`<div class="reason" dir="auto">${row.reason ?? 'The reason was not kept.'}</div>`
  const compared = row.status === 'fail' ? firstCompared(shown, row) : null
  if (compared !== null) return comparison(compared)
  const scope = scopeOfRow(null, row.given, row.sample, shown.asked)
  const text = (scope.sample as { output_text?: unknown } | null)?.output_text
  if (typeof text === 'string') return html`<pre class="clamp" dir="auto">${cut(text, outputMax)}</pre>`
  return row.sample === null ? tooLarge : html`<span class="none">No output text</span>`
}

function firstCompared({ criteria, asked }: ShownRows, row: ListedRow): Compared | null {
  if (row.item === null || row.sample === null) return null
  const scope = scopeOfRow(row.item, row.given, row.sample, asked)
  for (const [at, criterion] of criteria.entries()) {
    const compared = row.passed[at] === false ? comparedTexts(criterion, scope, outputMax) : null
    if (compared !== null) return compared
  }
  return null
}

const expectations = { equal: 'Expected', differ: 'Not', contain: 'With', resemble: 'Expected' } as const

const comparison = (compared: Compared): Html =>
  html`<dl class="compare">
    <div>
      <dt>${expectations[compared.should]}</dt>
      <dd dir="auto"><span class="kept">${expectedText(compared)}</span></dd>
    </div>
    <div>
      <dt>Got</dt>
      <dd dir="auto"><span class="kept">${gotText(compared)}</span></dd>
    </div>
  </dl>`

function checks(criteria: readonly Criterion[], row: ListedRow): Html {
  if (row.passed.length === 0) return html`<span class="none">Not judged</span>`
  const list = criteria.map((criterion, at) => {
    const passed = row.passed[at] ?? null
    const status = passed === null ? 'error' : passed ? 'pass' : 'fail'
    return { name: criterion.grader.name, status, said: row.results?.[at]?.score ?? null } as const
  })
  // Those that did not pass are what one looks for.
  const first = list.toSorted((a, b) => Number(a.status === 'pass') - Number(b.status === 'pass'))
  return html`<ul class="checks">
      ${first
        .slice(0, checksMax)
        .map(
          ({ name, status, said }) =>
            html`<li>
              <span class="${outcomes[status].tone}" role="img" aria-label="${outcomes[status].word}"
                >${outcomes[status].sign}</span
              ><span dir="auto">${name}</span>${
                said !== null && status !== 'error' && html`<span class="num sub">${score(said)}</span>`
              }
            </li>`,
        )}
    </ul>
    ${list.length > checksMax && html`<div class="sub">and ${list.length - checksMax} more</div>`}`
}

function pager({ path, query: { show, live }, rows, hasEarlier, hasLater }: ShownRows): Html | null {
  if (!hasEarlier && !hasLater) return null
  const first = rows[0]
  const last = rows.at(-1)
  const placeOf = ({ status, n }: ListedRow) => ({ status, n })
  return html`<nav class="pager" aria-label="Pages">
    <span
      >${hasEarlier && first !== undefined && html`<a class="button" rel="prev" href="${reportHref(path, { show, live, from: placeOf(first), way: 'before' })}">← Previous</a>`}
      ${hasEarlier && html` <a class="button quiet" href="${reportHref(path, { show, live })}">First page</a>`}</span
    >
    ${hasLater && last !== undefined && html`<a class="button" rel="next" href="${reportHref(path, { show, live, from: placeOf(last), way: 'after' })}">Next →</a>`}
  </nav>`
}

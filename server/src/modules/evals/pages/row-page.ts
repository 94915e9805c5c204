import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import type { OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import { Fault } from '#platform/errors/fault.ts'
import { html, type Html } from '#platform/http/pages/html.ts'
import type { Page } from '#platform/http/pages/page.ts'
import { scopeOfRow } from '../domain/compared.ts'
import { compileCriteria } from '../domain/criteria.ts'
import { outputItemId } from '../domain/output-item-view.ts'
import { findNeighbour, findWholeRow, type WholeRow } from '../store/report-rows.ts'
import type { RunRow } from '../store/runs.ts'
import { criterionPart } from './criterion-part.ts'
import { count } from './figures.ts'
import { outcomeBadge } from './marks.ts'
import { PageRoom } from './page-room.ts'
import { runOf, type ReportUses } from './report-page.ts'
import { readReportQuery, reportHref, reportPath, rowHref } from './report-query.ts'

const rowForm = /^[1-9]\d{0,8}$/

/** Everything about one row of a run. */
export const rowPage = (use: ReportUses): Page => ({
  id: 'pages.evals.row',
  path: '/dashboard/evals/{eval_id}/runs/{run_id}/rows/{row}',
  needs: 'evals.read',
  async show({ scope, params, query }) {
    const { of, run } = await runOf(use, scope.projectId, params)
    const given = params['row'] ?? ''
    const row = rowForm.test(given) ? await findWholeRow(use.db, run.id, Number(given) - 1) : null
    if (row === null) throw new Fault('not_found', 'This run has no such row.')
    const { show } = readReportQuery(query)
    const path = reportPath(of.id, run.id)
    const [earlier, later] = await neighbours(use, run, row, show)
    const title = `Row ${count(row.n + 1)}`
    return {
      title: `${title} · ${run.name === '' ? run.id : run.name}`,
      main: html`<div class="head">
          <p class="crumbs" dir="auto">
            ${of.name} / <a href="${reportHref(path, { show })}">${run.name === '' ? run.id : run.name}</a>
          </p>
          <div class="tools">
            <div class="title">
              <h1>${title}</h1>
              ${outcomeBadge(row.status)}
            </div>
            <nav class="inline" aria-label="Rows">
              ${earlier !== null && html`<a class="button" rel="prev" href="${rowHref(path, earlier, show)}">← Row ${count(earlier + 1)}</a>`}
              ${later !== null && html`<a class="button" rel="next" href="${rowHref(path, later, show)}">Row ${count(later + 1)} →</a>`}
            </nav>
          </div>
          ${rowFacts(run, row)}
        </div>
        ${rowReason(row)}
        ${row.status !== null && results(of.testing_criteria as unknown as readonly TestingCriterion[], run, row)}
        <div class="pair">${itemCard(row.item)}${sampleCard(row, run)}</div>`,
    }
  },
})

async function neighbours(
  use: ReportUses,
  run: RunRow,
  { n, status }: WholeRow,
  show: ReturnType<typeof readReportQuery>['show'],
): Promise<readonly [number | null, number | null]> {
  if (status === null) return [null, null]
  // A row looked at by its number need not be among those that the list shows.
  const page = { show: show === status ? show : null, from: { status, n } }
  return await Promise.all([
    findNeighbour(use.db, run.id, { ...page, way: 'before' }),
    findNeighbour(use.db, run.id, { ...page, way: 'after' }),
  ])
}

const fact = (name: string, value: string | number | null | undefined): Html | null =>
  value == null || value === ''
    ? null
    : html`<div>
        <dt>${name}</dt>
        <dd dir="auto">${typeof value === 'number' ? count(value) : value}</dd>
      </div>`

function rowFacts(run: RunRow, { n, sample }: WholeRow): Html {
  const { model, finish_reason: reason, usage } = sample ?? ({} as Partial<OutputSample>)
  return html`<dl class="facts">
    ${fact('Model', model)}${fact('Finished by', reason)}${fact('Tokens in', usage?.prompt_tokens)}${fact('Tokens out', usage?.completion_tokens)}
    <div>
      <dt>Output item</dt>
      <dd><code>${outputItemId(run.id, n)}</code></dd>
    </div>
  </dl>`
}

function rowReason({ status, sample, error }: WholeRow): Html | null {
  const reason = sample?.error ?? error
  if (reason === null) return null
  return html`<p class="callout odd" role="alert" dir="auto">
    <strong>${status === null ? 'This row cannot be judged.' : 'This row erred.'}</strong> ${reason.message}
    <code>${reason.code}</code>
  </p>`
}

function results(criteria: readonly TestingCriterion[], run: RunRow, row: WholeRow): Html {
  const scope = scopeOfRow(row.item, row.given, row.sample, run.model !== null)
  const compiled = compileCriteria(criteria)
  const room = new PageRoom()
  return html`<section class="card" aria-labelledby="results">
    <h2 id="results">Results</h2>
    <div>
      ${compiled.map((criterion, at) =>
        criterionPart(criterion, row.results?.[at] ?? null, row.passed?.[at] ?? null, scope, room),
      )}
    </div>
  </section>`
}

function itemCard(item: Record<string, unknown>): Html {
  const fields = Object.entries(item)
  const room = new PageRoom()
  return html`<section class="card" aria-labelledby="item">
    <h2 id="item">Item</h2>
    ${
      fields.length === 0
        ? html`<p class="none">Empty</p>`
        : fields.map(
            ([name, value]) =>
              html`<div class="pane">
                <h3 dir="auto">${name}</h3>
                ${room.block(value)}
              </div>`,
          )
    }
  </section>`
}

/** What the model was asked and what it said; or the output that the row brought. */
function sampleCard({ given, sample, status }: WholeRow, run: RunRow): Html {
  const messages = [...(sample?.input ?? []), ...(sample?.output ?? [])]
  const room = new PageRoom()
  const brought = run.model === null && given !== null
  return html`<section class="card" aria-labelledby="sample">
    <h2 id="sample">${brought ? 'Output of the row' : 'Conversation'}</h2>
    ${messages.map(
      ({ role, content }) =>
        html`<div class="pane">
          <h3>${role ?? 'assistant'}</h3>
          ${room.block(content ?? '')}
        </div>`,
    )}
    ${messages.length === 0 && html`<p class="none">${status === null ? 'Nothing yet.' : 'No message was kept.'}</p>`}
    ${
      brought &&
      html`<details>
        <summary>All that the row brought</summary>
        ${room.block(given)}
      </details>`
    }
  </section>`
}

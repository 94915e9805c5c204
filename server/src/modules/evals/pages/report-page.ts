import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { html } from '#platform/http/pages/html.ts'
import type { Page } from '#platform/http/pages/page.ts'
import type { Clock } from '#platform/std/clock.ts'
import { compileCriteria } from '../domain/criteria.ts'
import { noTotals, type Totals } from '../domain/totals.ts'
import { totalsSoFar } from '../store/chunks.ts'
import { findEval, type EvalRow } from '../store/evals.ts'
import { listReportRows, type ListedRow } from '../store/report-rows.ts'
import { findRun, type RunRow } from '../store/runs.ts'
import type { EvalsTables } from '../store/tables.ts'
import { readReportQuery, reportHref, reportPath, rowHref, type ReportQuery } from './report-query.ts'
import { rowsCard } from './rows-card.ts'
import { isOver, refreshSeconds, runError, runHead, runTotals } from './run-head.ts'
import { criteriaCard, usageCard } from './sums-cards.ts'

export interface ReportUses {
  readonly db: Db<EvalsTables>
  readonly clock: Clock
}

const rowsOnPage = 50

/** The page behind `report_url`. However many rows a run has, it reads sums and one page of them. */
export const reportPage = (use: ReportUses): Page => ({
  id: 'pages.evals.report',
  path: '/dashboard/evals/{eval_id}/runs/{run_id}',
  needs: 'evals.read',
  async show({ scope, params, query: given }) {
    const { of, run } = await runOf(use, scope.projectId, params)
    const query = readReportQuery(given)
    const path = reportPath(of.id, run.id)
    if (query.row !== null) return { location: rowHref(path, query.row - 1, query.show) }
    const [totals, found] = await Promise.all([
      totalsOf(use, run),
      listReportRows(use.db, run.id, { ...query, limit: rowsOnPage }),
    ])
    const criteria = of.testing_criteria as unknown as readonly TestingCriterion[]
    const over = isOver(run)
    const live = query.live && !over
    const liveHref = reportHref(path, { ...query, live: !query.live })
    const headed = { evalName: of.name, run, totals, now: use.clock.now(), live, liveHref }
    const rows = {
      path,
      query: over ? { ...query, live: true } : query,
      totals,
      criteria: compileCriteria(criteria),
      asked: run.model !== null,
      over,
      ...onPage(found, query),
    }
    return {
      title: `${run.name === '' ? run.id : run.name} · ${of.name}`,
      main: html`${runHead(headed)}${runError(headed)}${runTotals(headed)}
        <div class="pair">${criteriaCard(criteria, totals)}${usageCard(totals.models)}</div>
        ${rowsCard(rows)}`,
      ...(live ? { refreshSeconds } : {}),
    }
  },
})

/** Another project's report is no more there than one that never was. */
export async function runOf(
  use: ReportUses,
  projectId: ProjectId,
  { eval_id: evalId = '', run_id: runId = '' }: Readonly<Record<string, string>>,
): Promise<{ of: EvalRow; run: RunRow }> {
  const [of, run] = await Promise.all([findEval(use.db, projectId, evalId), findRun(use.db, projectId, evalId, runId)])
  if (of === null || run === null) throw noSuchReport()
  return { of, run }
}

const noSuchReport = () => new Fault('not_found', 'This project has no such report.')

async function totalsOf(use: ReportUses, run: RunRow): Promise<Totals> {
  if (run.totals !== null) return run.totals
  return run.loaded ? await totalsSoFar(use.db, run.id) : noTotals
}

/** Where there are pages on either side. */
function onPage(found: readonly ListedRow[], { from, way }: ReportQuery) {
  const more = found.length > rowsOnPage
  const rows = found.slice(0, rowsOnPage)
  return way === 'after'
    ? { rows, hasEarlier: from !== null, hasLater: more }
    : { rows: rows.toReversed(), hasEarlier: more, hasLater: true }
}

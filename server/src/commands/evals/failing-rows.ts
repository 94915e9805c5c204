import type { Eval } from '@switchyard/contracts/evals/evals.ts'
import type { CriterionOutcome, OutputItem } from '@switchyard/contracts/evals/output-items.ts'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { Api } from './api.ts'

type Criterion = Eval['testing_criteria'][number]

/** Why a row did not pass, by one criterion or, where none is named, at all. */
export interface Reason {
  readonly criterion: string | null
  readonly says: string
  readonly expected?: string
  readonly got?: string
}

export interface FailingRow {
  /** As the API counts rows: from 0. */
  readonly n: number
  readonly status: 'fail' | 'error'
  readonly reasons: readonly Reason[]
}

const missed = {
  eq: 'not equal',
  ne: 'equal',
  like: 'not contained',
  ilike: 'not contained, in whatever case',
} as const

/** Puts the values of a row into a template. */
export type Fill = (template: string, scope: { item: unknown; sample: unknown }) => string

/** The server's own reading of templates, without the server around it. */
export async function loadFill(): Promise<Fill> {
  const { compileTemplate, render } = await import('#modules/evals/domain/template.ts')
  return (template, scope) => render(compileTemplate(template), scope)
}

const textMax = 2_000
const perPage = 100

const cut = (text: string) => (text.length > textMax ? `${text.slice(0, textMax)}…` : text)

/** The first rows that did not pass, those that could not be judged before the others. */
export async function listFailingRows(
  api: Api,
  { eval_id: evalId, id, result_counts: counts }: EvalRun,
  criteria: Eval['testing_criteria'],
  rowsMax: number,
): Promise<FailingRow[]> {
  const rows: FailingRow[] = []
  const fill = await loadFill()
  // Where there are many of both, each has half of the room.
  const errors = Math.min(counts.errored, Math.max(Math.ceil(rowsMax / 2), rowsMax - counts.failed))
  const wantedOf = { error: errors, fail: Math.min(counts.failed, rowsMax - errors) } as const
  for (const status of ['error', 'fail'] as const) {
    let after: string | null = null
    let wanted: number = wantedOf[status]
    while (wanted > 0) {
      const query = new URLSearchParams({
        status,
        limit: String(Math.min(wanted, perPage)),
        ...(after !== null && { after }),
      })
      const path = `/evals/${evalId}/runs/${id}/output_items?${query.toString()}`
      const { data } = await api.call<{ data: OutputItem[] }>({ method: 'GET', path })
      rows.push(...data.map((item) => failingRow(item, criteria, fill)))
      wanted = data.length === 0 ? 0 : wanted - data.length
      after = data.at(-1)?.id ?? null
    }
  }
  return rows
}

export function failingRow(item: OutputItem, criteria: Eval['testing_criteria'], fill: Fill): FailingRow {
  const { status, datasource_item_id: n, sample, results } = item
  if (status === 'error') {
    const { code, message } = sample.error ?? { code: 'error', message: 'It did not say why.' }
    return { n, status, reasons: [{ criterion: null, says: `${code}: ${cut(message)}` }] }
  }
  const failed = results.filter(({ passed }) => !passed)
  const reasons = failed.map((outcome) =>
    reasonOf(
      outcome,
      criteria.find(({ id }) => id === outcome.name),
      item,
      fill,
    ),
  )
  return { n, status: 'fail', reasons }
}

function reasonOf(outcome: CriterionOutcome, grader: Criterion | undefined, item: OutputItem, fill: Fill): Reason {
  const criterion = grader?.name ?? outcome.name
  // Rounded down, so that it does not look like the score that passes; 0.57 stays 0.57.
  const score = Math.floor(outcome.score * 1_000 + 1e-9) / 1_000
  switch (grader?.type) {
    case 'string_check':
      return { criterion, says: missed[grader.operation], ...texts(grader, item, fill) }
    case 'text_similarity':
      return { criterion, says: `${score}, and ${grader.pass_threshold} passes`, ...texts(grader, item, fill) }
    case 'label_model':
      return { criterion, says: `labelled ${JSON.stringify(outcome['label'])}`, ...answer(item) }
    case 'score_model':
    case 'python':
    case undefined: {
      const threshold = grader?.pass_threshold
      return {
        criterion,
        says: threshold === undefined ? `scored ${score}` : `scored ${score}, and ${threshold} passes`,
        ...answer(item),
      }
    }
  }
}

const answer = ({ sample }: OutputItem) => {
  const text = sample.output.map(({ content }) => content ?? '').join('')
  return text === '' ? {} : { got: cut(text) }
}

/** What was compared, as far as the item still tells. */
function texts({ input, reference }: { input: string; reference: string }, item: OutputItem, fill: Fill) {
  const { got } = answer(item)
  let json: unknown = null
  try {
    json = JSON.parse(got ?? '')
  } catch {
    // An answer in words.
  }
  const scope = { item: item.datasource_item, sample: { output_text: got ?? '', output_json: json } }
  try {
    return {
      expected: cut(fill(reference, scope)),
      got: cut(fill(input, scope)),
    }
  } catch {
    return answer(item)
  }
}

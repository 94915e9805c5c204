import type { TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { html, type Html } from '#platform/http/pages/html.ts'
import { percent } from '#platform/std/percent.ts'
import type { ModelUse, Totals } from '../domain/totals.ts'
import { count } from './figures.ts'
import { bar } from './marks.ts'

const kinds: Record<TestingCriterion['type'], string> = {
  string_check: 'String check',
  text_similarity: 'Text similarity',
  score_model: 'Score by a model',
  label_model: 'Label by a model',
  python: 'Python',
}

export const kindOf = (criterion: Pick<TestingCriterion, 'type'>): string => kinds[criterion.type]

export function criteriaCard(criteria: readonly TestingCriterion[], totals: Totals): Html {
  const done = totals.passed + totals.failed + totals.errored
  return html`<section class="card" aria-labelledby="criteria">
    <h2 id="criteria">Criteria</h2>
    <div class="scroll">
      <table class="sums">
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col" class="c-bar"><span class="hidden">Share that passed</span></th>
            <th scope="col" class="num">Pass rate</th>
            <th scope="col" class="num">Passed</th>
            <th scope="col" class="num">Failed</th>
            <th scope="col" class="num">Not judged</th>
          </tr>
        </thead>
        <tbody>
          ${criteria.map((criterion, at) => criterionLine(criterion, totals.criteria[at], done))}
        </tbody>
      </table>
    </div>
  </section>`
}

function criterionLine(criterion: TestingCriterion, sums: Totals['criteria'][number] | undefined, done: number): Html {
  const { passed, failed } = sums ?? { passed: 0, failed: 0 }
  const left = Math.max(0, done - passed - failed)
  const shares = [
    { tone: 'good', value: passed },
    { tone: 'bad', value: failed },
    { tone: 'odd', value: left },
  ] as const
  return html`<tr>
    <th scope="row">
      <span dir="auto">${criterion.name}</span>
      <div class="sub">${kindOf(criterion)}</div>
    </th>
    <td class="wide">${bar(shares, done, `${passed} passed, ${failed} failed, ${left} not judged`)}</td>
    <td class="num">${percent(passed, passed + failed)}</td>
    <td class="num">${count(passed)}</td>
    <td class="num">${count(failed)}</td>
    <td class="num">${count(left)}</td>
  </tr>`
}

export function usageCard(models: readonly ModelUse[]): Html {
  return html`<section class="card" aria-labelledby="usage">
    <h2 id="usage">Usage by model</h2>
    ${
      models.length === 0
        ? html`<p class="none">No model was called.</p>`
        : html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col" class="num">Calls</th>
                  <th scope="col" class="num">Tokens in</th>
                  <th scope="col" class="num">Tokens out</th>
                </tr>
              </thead>
              <tbody>
                ${models.map(usageLine)}
              </tbody>
            </table>
          </div>`
    }
  </section>`
}

const usageLine = ({ model, calls, prompt, completion, cached }: ModelUse): Html =>
  html`<tr>
    <th scope="row" dir="auto">${model}</th>
    <td class="num">${count(calls)}</td>
    <td class="num">${count(prompt)}${cached > 0 && html`<div class="sub">${count(cached)} cached</div>`}</td>
    <td class="num">${count(completion)}</td>
  </tr>`

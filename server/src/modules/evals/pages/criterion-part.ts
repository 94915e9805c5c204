import type { CriterionOutcome } from '@switchyard/contracts/evals/output-items.ts'
import { html, type Html } from '#platform/http/pages/html.ts'
import { comparedTexts, type Compared } from '../domain/compared.ts'
import { pythonThresholdDefault, type Criterion } from '../domain/criteria.ts'
import type { TemplateScope } from '../domain/template.ts'
import { score } from './figures.ts'
import { expectedText, gotText, outcomeBadge } from './marks.ts'
import { onlyBegins, type PageRoom } from './page-room.ts'
import { kindOf } from './sums-cards.ts'

const shoulds = {
  equal: 'Expected exactly',
  differ: 'Expected anything but',
  contain: 'Expected to contain',
  resemble: 'Expected something like',
} as const

/** What one criterion said of a row, and what it looked at. */
export function criterionPart(
  criterion: Criterion,
  outcome: CriterionOutcome | null,
  passed: boolean | null,
  scope: TemplateScope,
  room: PageRoom,
): Html {
  const status = passed === null ? 'error' : passed ? 'pass' : 'fail'
  return html`<article class="criterion">
    <div class="title">
      <h3 dir="auto">${criterion.grader.name}</h3>
      ${outcomeBadge(status)}
    </div>
    <p class="note">
      ${kindOf(criterion.grader)}${ruleOf(criterion)}${outcome !== null && passed !== null && ` · score ${score(outcome.score)}`}
    </p>
    ${reasonOf(outcome, room)} ${outcome !== null && passed !== null && comparison(criterion, scope, room)}
  </article>`
}

function ruleOf({ kind, grader }: Criterion): string {
  if (grader.type === 'string_check') return ` · ${grader.operation}`
  if (grader.type === 'text_similarity')
    return ` · ${grader.evaluation_metric} of at least ${grader.pass_threshold ?? 0}`
  if (grader.type === 'label_model') return ` · ${grader.model} · passes with ${grader.passing_labels.join(', ')}`
  if (kind === 'python') return ` · passes from ${grader.pass_threshold ?? pythonThresholdDefault}`
  return grader.type === 'score_model' ? ` · ${grader.model}` : ''
}

/** Why it could not judge, or what the model that judged gave as its reason. */
function reasonOf(outcome: CriterionOutcome | null, room: PageRoom): Html | null {
  if (outcome === null) return html`<p class="none">The row erred before it came to this criterion.</p>`
  const { error, label, sample } = outcome as CriterionOutcome & { error?: { message?: unknown }; label?: unknown }
  if (typeof error?.message === 'string') return html`<p class="callout odd" dir="auto">${error.message}</p>`
  const said = (sample?.['output'] as { content?: unknown }[] | undefined)?.[0]?.content
  return html`${typeof label === 'string' && html`<p>Label: <strong dir="auto">${label}</strong></p>`}${
    typeof said === 'string' &&
    html`<div class="pane">
      <span>What the model said</span>
      ${room.block(reasoningOf(said))}
    </div>`
  }`
}

/** A model that judges is asked for its reasons in JSON; anything else is shown as it is. */
function reasoningOf(said: string): string {
  try {
    const { reasoning } = JSON.parse(said) as { reasoning?: unknown }
    return typeof reasoning === 'string' ? reasoning : said
  } catch {
    return said
  }
}

function comparison(criterion: Criterion, scope: TemplateScope, room: PageRoom): Html | null {
  if (criterion.kind !== 'text') return null
  if (room.charsMax === 0) return html`<p class="note">There is no room for its texts; the API has them.</p>`
  const compared = comparedTexts(criterion, scope, room.charsMax)
  if (compared === null) return null
  room.spend(compared.expected.length + compared.got.length)
  return panes(compared)
}

function panes(compared: Compared): Html {
  const same = compared.expected === compared.got
  return html`<div class="panes">
      <div class="pane">
        <span>${shoulds[compared.should]}</span>
        <pre class="text" dir="auto" tabindex="0">${expectedText(compared)}</pre>
      </div>
      <div class="pane">
        <span>Got</span>
        <pre class="text" dir="auto" tabindex="0">${gotText(compared)}</pre>
      </div>
    </div>
    ${!compared.whole && onlyBegins} ${same && compared.whole && html`<p class="note">Both texts are the same.</p>`}
    ${!same && compared.parts === null && (compared.should === 'equal' || compared.should === 'resemble') && html`<p class="note">The texts are too long to mark where they differ.</p>`}`
}

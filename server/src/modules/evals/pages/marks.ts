import type { OutputItemStatus } from '@switchyard/contracts/evals/output-items.ts'
import type { EvalRunStatus } from '@switchyard/contracts/evals/runs.ts'
import { html, type Html } from '#platform/http/pages/html.ts'
import type { Totals } from '../domain/totals.ts'
import type { Compared } from '../domain/compared.ts'

export type Tone = 'good' | 'bad' | 'odd' | 'busy' | 'plain'

/** A failed row was judged; an errored one could not be. They never look or read alike. */
export const outcomes = {
  error: { word: 'Errored', tone: 'odd', sign: '!' },
  fail: { word: 'Failed', tone: 'bad', sign: '✕' },
  pass: { word: 'Passed', tone: 'good', sign: '✓' },
} as const satisfies Record<OutputItemStatus, { word: string; tone: Tone; sign: string }>

const states: Record<EvalRunStatus, { word: string; tone: Tone }> = {
  queued: { word: 'Queued', tone: 'plain' },
  in_progress: { word: 'Running', tone: 'busy' },
  completed: { word: 'Completed', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  canceled: { word: 'Canceled', tone: 'plain' },
}

const badge = (tone: Tone, text: string): Html => html`<span class="badge ${tone}">${text}</span>`

export const stateBadge = (status: EvalRunStatus): Html => badge(states[status].tone, states[status].word)

export function outcomeBadge(status: OutputItemStatus | null): Html {
  if (status === null) return badge('plain', 'Not judged yet')
  const { tone, sign, word } = outcomes[status]
  return badge(tone, `${sign} ${word}`)
}

/** Shares of a whole, side by side. What is left over stays empty. Drawn, since no style may stand in a page's markup. */
export function bar(parts: readonly { tone: Tone; value: number }[], whole: number, label: string, tall = false): Html {
  let at = 0
  const drawn = parts.map(({ tone, value }) => {
    const width = whole === 0 ? 0 : (value / whole) * 100
    const rect = html`<rect class="${tone}" x="${at.toFixed(3)}%" width="${width.toFixed(3)}%" height="100%"></rect>`
    at += width
    return rect
  })
  return html`<svg class="${tall ? 'bar tall' : 'bar'}" role="img" aria-label="${label}">${drawn}</svg>`
}

export const totalsBar = ({ passed, failed, errored }: Totals, whole: number): Html =>
  bar(
    [
      { tone: 'good', value: passed },
      { tone: 'bad', value: failed },
      { tone: 'odd', value: errored },
    ],
    whole,
    `${passed} passed, ${failed} failed, ${errored} errored`,
    true,
  )

/** The words of each text that the other one lacks are marked. */
export function expectedText({ expected, parts }: Compared): Html {
  if (parts === null) return html`${expected}`
  const shown = parts.filter(({ kind }) => kind !== 'added')
  return html`${shown.map(({ kind, text }) => (kind === 'removed' ? html`<del>${text}</del>` : html`${text}`))}`
}

export function gotText({ got, parts }: Compared): Html {
  if (parts === null) return html`${got}`
  const shown = parts.filter(({ kind }) => kind !== 'removed')
  return html`${shown.map(({ kind, text }) => (kind === 'added' ? html`<ins>${text}</ins>` : html`${text}`))}`
}

import type { OutputSample } from '@switchyard/contracts/evals/output-items.ts'
import type { Criterion } from './criteria.ts'
import { diffTexts, type DiffPart } from './diff.ts'
import { RowError } from './row-error.ts'
import { givenSample } from './sample.ts'
import { render, type TemplateScope } from './template.ts'

/** The two texts that a criterion held against each other. */
export interface Compared {
  /** How the text that was got should stand to the other one. */
  readonly should: 'equal' | 'differ' | 'contain' | 'resemble'
  readonly expected: string
  readonly got: string
  /** False: what is said here is of their beginnings. */
  readonly whole: boolean
  /** Where they differ; null where that says nothing, or they are too long to tell. */
  readonly parts: readonly DiffPart[] | null
}

/** What the templates of a row's criteria were filled with, as far as it was kept. */
export function scopeOfRow(
  item: unknown,
  given: Readonly<Record<string, unknown>> | null,
  shown: OutputSample | null,
  asked: boolean,
): TemplateScope {
  if (!asked) return { item, sample: given === null ? null : givenSample(given) }
  const text = shown?.output[0]?.content
  if (shown === null || text === undefined) return { item, sample: null }
  const { model, finish_reason: reason, usage } = shown
  return { item, sample: givenSample({ output_text: text, model, finish_reason: reason, usage }) }
}

/** Null when the criterion compares no texts, or what it compared was not kept. Longer texts are cut first. */
export function comparedTexts(criterion: Criterion, scope: TemplateScope, charsMax: number): Compared | null {
  if (criterion.kind !== 'text') return null
  const { grader } = criterion
  const should = grader.type === 'text_similarity' ? 'resemble' : shoulds[grader.operation]
  try {
    const texts = [render(criterion.reference, scope), render(criterion.input, scope)] as const
    const [expected, got] = [cut(texts[0], charsMax), cut(texts[1], charsMax)]
    const parts = should === 'equal' || should === 'resemble' ? diffTexts(expected, got) : null
    return { should, expected, got, parts, whole: expected === texts[0] && got === texts[1] }
  } catch (error) {
    if (error instanceof RowError) return null
    throw error
  }
}

const shoulds = { eq: 'equal', ne: 'differ', like: 'contain', ilike: 'contain' } as const

export const cut = (text: string, charsMax: number): string =>
  text.length > charsMax ? `${text.slice(0, charsMax).toWellFormed()}…` : text

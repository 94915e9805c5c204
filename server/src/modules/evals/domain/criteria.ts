import type { SingleGrader, TestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { compileMessages, type MessagesTemplate } from './messages.ts'
import { compileTemplate, type Template } from './template.ts'

/** A grader whose templates are read once, for all rows. */
export type Criterion = { readonly id: string } & (
  | { readonly kind: 'text'; readonly grader: TextGrader; readonly input: Template; readonly reference: Template }
  | { readonly kind: 'model'; readonly grader: ModelGrader; readonly input: MessagesTemplate }
  | { readonly kind: 'python'; readonly grader: Extract<SingleGrader, { type: 'python' }> }
)

export type TextGrader = Extract<SingleGrader, { type: 'string_check' | 'text_similarity' }>
export type ModelGrader = Extract<SingleGrader, { type: 'score_model' | 'label_model' }>

/** Without a threshold of its own, a Python grader passes from here on. */
export const pythonThresholdDefault = 0.5

export function compileGrader(grader: SingleGrader, id: string): Criterion {
  switch (grader.type) {
    case 'string_check':
    case 'text_similarity': {
      const { input, reference } = grader
      return { id, kind: 'text', grader, input: compileTemplate(input), reference: compileTemplate(reference) }
    }
    case 'score_model':
    case 'label_model':
      return { id, kind: 'model', grader, input: compileMessages(grader.input) }
    case 'python':
      return { id, kind: 'python', grader }
  }
}

export const compileCriteria = (criteria: readonly TestingCriterion[]): Criterion[] =>
  criteria.map(({ id, ...grader }) => compileGrader(grader as SingleGrader, id))

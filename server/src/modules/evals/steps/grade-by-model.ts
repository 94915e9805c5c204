import { scoreRangeDefault } from '@switchyard/contracts/evals/graders.ts'
import type { Criterion, ModelGrader } from '../domain/criteria.ts'
import { asChat, renderMessages, shownMessages } from '../domain/messages.ts'
import { labelOf, scoreOf } from '../domain/model-verdict.ts'
import { RowError } from '../domain/row-error.ts'
import { noSampling, sampleOfChat, shownSample } from '../domain/sample.ts'
import type { TemplateScope } from '../domain/template.ts'
import { askChat, type AskUses, type RowCall } from './ask-model.ts'
import type { TextTurns } from './text-turns.ts'

export interface ModelGraderUses extends AskUses {
  readonly turns: TextTurns
}

const refusalShownMax = 500

/** Asks a model what it makes of a row. Its answer has a form, so that it is read and not guessed. */
export async function gradeByModel(
  use: ModelGraderUses,
  { grader, input }: Extract<Criterion, { kind: 'model' }>,
  scope: TemplateScope,
  call: RowCall,
) {
  const messages = await use.turns.run(call.charged.projectId, call.signal, () => renderMessages(input, scope))
  const answer = await askChat(use, call, {
    model: grader.model,
    messages: asChat(messages),
    response_format: answerForm(grader),
    ...samplingOf(grader),
  })
  const refusal = answer.choices[0]?.message.refusal
  if (refusal) {
    throw new RowError('model_grader_refusal_error', `The grader's model refused: ${refusal.slice(0, refusalShownMax)}`)
  }
  const sample = sampleOfChat(answer)
  const shown = shownSample(sample, shownMessages(messages), noSampling, null)
  if (grader.type === 'label_model') {
    const label = labelOf(sample, grader.labels)
    const passed = grader.passing_labels.includes(label)
    return { passed, score: passed ? 1 : 0, label, sample: shown }
  }
  const [low, high] = grader.range ?? scoreRangeDefault
  const score = scoreOf(sample, [low, high])
  return { passed: score >= (grader.pass_threshold ?? (low + high) / 2), score, sample: shown }
}

function samplingOf(grader: ModelGrader): Record<string, unknown> {
  if (grader.type !== 'score_model' || grader.sampling_params == null) return {}
  const { max_completions_tokens: tokens, ...rest } = grader.sampling_params
  return Object.fromEntries(
    Object.entries({ ...rest, max_completion_tokens: tokens }).filter(([, value]) => value != null),
  )
}

/** Said before judged: a model that has to give its reasons first judges better. */
function answerForm(grader: ModelGrader): object {
  const result = grader.type === 'label_model' ? { type: 'string', enum: grader.labels } : { type: 'number' }
  return {
    type: 'json_schema',
    json_schema: {
      name: grader.type === 'label_model' ? 'label' : 'score',
      strict: true,
      schema: {
        type: 'object',
        properties: { reasoning: { type: 'string' }, result },
        required: ['reasoning', 'result'],
        additionalProperties: false,
      },
    },
  }
}

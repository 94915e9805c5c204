import type { CreateEvalRun } from '@switchyard/contracts/evals/runs.ts'
import type { SingleGrader } from '@switchyard/contracts/evals/graders.ts'
import type { Inference, Model } from '#modules/inference/index.ts'
import { checkMessages } from '../domain/check-messages.ts'
import { noSuchModel } from './faults.ts'

export type Models = Pick<Inference, 'findModel' | 'checkOffered'>

function modelOf(models: Models, name: string, sampling: object | null | undefined, param: string): Model {
  const model = models.findModel(name)
  if (model === null) throw noSuchModel(`${param}.model`)
  models.checkOffered(model, { ...sampling }, `${param}.sampling_params.`)
  return model
}

/** Refuses a grader whose model would refuse every row. */
export function checkModelOfGrader(models: Models, grader: SingleGrader, param: string): void {
  if (grader.type !== 'score_model' && grader.type !== 'label_model') return
  const sampling = grader.type === 'score_model' ? grader.sampling_params : null
  const model = modelOf(models, grader.model, sampling, param)
  checkMessages(grader.input, `${param}.input`, { model, chat: true, shell: false })
}

/** Refuses a run whose model would refuse every row. What the rows bring themselves is seen when they are asked. */
export function checkModelOfRun(models: Models, source: CreateEvalRun['data_source']): void {
  if (source.type === 'jsonl' || source.model === undefined) return
  const model = modelOf(models, source.model, source.sampling_params, 'data_source')
  const { input_messages: input } = source
  if (input?.type !== 'template') return
  const chat = source.type === 'completions'
  const shell =
    source.type === 'responses' && source.sampling_params?.tools?.some(({ type }) => type === 'shell') === true
  checkMessages(input.template, 'data_source.input_messages.template', { model, chat, shell })
}

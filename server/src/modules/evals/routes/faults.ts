import { Fault } from '#platform/errors/fault.ts'

export const noSuchEval = () => new Fault('not_found', 'No such eval.', { param: 'eval_id' })
export const noSuchRun = () => new Fault('not_found', 'No such run of this eval.', { param: 'run_id' })

export const noSuchModel = (param: string) =>
  new Fault('model_not_found', 'No model of this name is in the catalogue; GET /v1/models lists what there is.', {
    param,
  })
export const noSuchOutputItem = () =>
  new Fault('not_found', 'No such output item of this run.', { param: 'output_item_id' })

import type { GraderErrors } from '@switchyard/contracts/evals/grader-runs.ts'
import type { SingleGrader } from '@switchyard/contracts/evals/graders.ts'
import { templatesOfGrader } from './check-templates.ts'
import type { RowError } from './row-error.ts'
import { compileTemplate, variablesOf } from './template.ts'

export const noErrors: GraderErrors = {
  formula_parse_error: false,
  invalid_variable_error: false,
  model_grader_parse_error: false,
  model_grader_refusal_error: false,
  model_grader_server_error: false,
  model_grader_server_error_details: null,
  other_error: false,
  python_grader_runtime_error: false,
  python_grader_runtime_error_details: null,
  python_grader_server_error: false,
  python_grader_server_error_type: null,
  sample_parse_error: false,
  truncated_observation_error: false,
  unresponsive_reward_error: false,
}

const readsJson = (grader: SingleGrader): boolean =>
  [...templatesOfGrader(grader, '')].some(({ text }) =>
    variablesOf(compileTemplate(text)).some(({ path }) => path?.[0] === 'sample' && path[1] === 'output_json'),
  )

/** Which flags say why a grader came to no score. */
export function errorsOf({ code, message }: RowError, grader: SingleGrader, hasJson: boolean): Partial<GraderErrors> {
  switch (code) {
    case 'template_error':
      return !hasJson && readsJson(grader) ? { sample_parse_error: true } : { invalid_variable_error: true }
    case 'model_grader_refusal_error':
      return { model_grader_refusal_error: true }
    case 'model_grader_parse_error':
    case 'score_out_of_range':
      return { model_grader_parse_error: true }
    default:
      break
  }
  switch (grader.type) {
    case 'python':
      return { python_grader_runtime_error: true, python_grader_runtime_error_details: message }
    case 'score_model':
    case 'label_model':
      return { model_grader_server_error: true, model_grader_server_error_details: message }
    case 'string_check':
    case 'text_similarity':
      return { other_error: true }
  }
}

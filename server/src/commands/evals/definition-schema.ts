import { ContentRow, fileContentRowsMax } from '@switchyard/contracts/evals/data-sources.ts'
import { EvalName, testingCriteriaMax } from '@switchyard/contracts/evals/evals.ts'
import { CreateTestingCriterion } from '@switchyard/contracts/evals/graders.ts'
import { EvalId } from '@switchyard/contracts/ids.ts'
import { Metadata } from '@switchyard/contracts/responses/request.ts'
import { z } from 'zod'

/** The keys of an eval file. */
export const GivenDefinition = z.strictObject({
  name: EvalName.optional(),
  metadata: Metadata.optional(),
  eval_id: EvalId.optional(),
  item_schema: z.record(z.string(), z.unknown()).optional(),
  data_source_config: z.record(z.string(), z.unknown()).optional(),
  testing_criteria: z.array(CreateTestingCriterion).min(1).max(testingCriteriaMax).optional(),
  /** A JSONL file, from the folder of the eval file. */
  data: z.string().min(1).optional(),
  rows: z.array(ContentRow).min(1).max(fileContentRowsMax).optional(),
  /** As the API takes it: a file that is there already, stored responses, stored completions. */
  source: z.record(z.string(), z.unknown()).optional(),
  type: z.enum(['responses', 'completions', 'jsonl']).optional(),
  model: z.string().min(1).optional(),
  /** Short for one message of the user. */
  prompt: z.string().min(1).optional(),
  input_messages: z.union([z.array(z.unknown()).min(1), z.record(z.string(), z.unknown())]).optional(),
  sampling_params: z.record(z.string(), z.unknown()).optional(),
  pass_rate_min: z.number().min(0).max(1).default(1),
  errors_max: z.int().min(0).default(0),
})
export type GivenDefinition = z.infer<typeof GivenDefinition>

/** What is sent is what was written: the checked form has defaults of the API in it already. */
export type WrittenDefinition = Partial<Record<keyof GivenDefinition, unknown>>

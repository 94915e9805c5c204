import { z } from 'zod'
import { ReasoningOptions } from '../responses/request.ts'
import { EvalMessage, GivenMessages, TemplateText } from './messages.ts'

export const graderNameMax = 256
export const graderLabelsMax = 100
export const graderLabelMax = 256
export const pythonSourceMax = 256 * 1024
export const multiGradersMax = 32
export const formulaMax = 2_000
const modelMax = 256
const imageTagMax = 256

const name = z.string().min(1).max(graderNameMax)
export const GraderModel = z.string().min(1).max(modelMax)
export const ReasoningEffort = ReasoningOptions.shape.effort

export const stringCheckOperations = ['eq', 'ne', 'like', 'ilike'] as const
export type StringCheckOperation = (typeof stringCheckOperations)[number]

export const similarityMetrics = [
  'cosine',
  'fuzzy_match',
  'bleu',
  'gleu',
  'meteor',
  'rouge_1',
  'rouge_2',
  'rouge_3',
  'rouge_4',
  'rouge_5',
  'rouge_l',
] as const
export type SimilarityMetric = (typeof similarityMetrics)[number]

const fault = (code: string) => ({ code: 'custom' as const, params: { fault: code } })

/** Two spellings are about for the same bound; the first is the SDK's. */
const eitherSpelling = {
  max_completions_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
}

export function tokensOf(given: {
  max_completions_tokens?: number | null | undefined
  max_completion_tokens?: number | null | undefined
}): number | null {
  return given.max_completion_tokens ?? given.max_completions_tokens ?? null
}

const samplingFields = {
  seed: z.int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning_effort: ReasoningEffort,
}

const GivenSampling = z.strictObject({ ...samplingFields, ...eitherSpelling }).transform((given) => {
  const { max_completion_tokens: _said, max_completions_tokens: _also, ...rest } = given
  const tokens = tokensOf(given)
  return { ...rest, ...(tokens === null ? {} : { max_completions_tokens: tokens }) }
})

const Sampling = z.strictObject({ ...samplingFields, max_completions_tokens: z.int().nullish() })

const stringCheck = {
  type: z.literal('string_check'),
  name,
  input: TemplateText,
  reference: TemplateText,
  operation: z.enum(stringCheckOperations),
}
const textSimilarity = {
  type: z.literal('text_similarity'),
  name,
  input: TemplateText,
  reference: TemplateText,
  evaluation_metric: z.enum(similarityMetrics),
}
const python = {
  type: z.literal('python'),
  name,
  source: z.string().min(1).max(pythonSourceMax),
  image_tag: z.string().max(imageTagMax).optional(),
  pass_threshold: z.number().optional(),
}
const scoreModel = {
  type: z.literal('score_model'),
  name,
  model: GraderModel,
  range: z.tuple([z.number(), z.number()]).optional(),
  pass_threshold: z.number().optional(),
}
const label = z.string().min(1).max(graderLabelMax)
const labelModel = {
  type: z.literal('label_model'),
  name,
  model: GraderModel,
  labels: z.array(label).min(1).max(graderLabelsMax),
  passing_labels: z.array(label).min(1).max(graderLabelsMax),
}

export const scoreRangeDefault: readonly [number, number] = [0, 1]

const GivenScoreModel = z
  .strictObject({ ...scoreModel, input: GivenMessages, sampling_params: GivenSampling.nullish() })
  .superRefine(({ range: [low, high] = scoreRangeDefault, pass_threshold: threshold }, { addIssue }) => {
    if (low >= high) {
      addIssue({ ...fault('invalid_value'), path: ['range'], message: 'the first number must be below the second' })
    } else if (threshold !== undefined && (threshold < low || threshold > high)) {
      const message = `the threshold must lie in the range of the scores, ${low} to ${high}`
      addIssue({ ...fault('invalid_value'), path: ['pass_threshold'], message })
    }
  })

const GivenLabelModel = z
  .strictObject({ ...labelModel, input: GivenMessages })
  .superRefine(({ labels, passing_labels: passing }, { addIssue }) => {
    const twice = labels.findIndex((one, at) => labels.indexOf(one) !== at)
    if (twice >= 0) {
      addIssue({ ...fault('invalid_value'), path: ['labels', twice], message: 'a label may stand here once' })
    }
    const stray = passing.findIndex((one) => !labels.includes(one))
    if (stray >= 0) {
      addIssue({ ...fault('invalid_value'), path: ['passing_labels', stray], message: 'it is not one of the labels' })
    }
  })

const StringCheck = z.strictObject(stringCheck)
const Python = z.strictObject(python)
/** A single grader gives its score; in an eval it also has to pass or fail. */
const OpenTextSimilarity = z.strictObject({ ...textSimilarity, pass_threshold: z.number().optional() })
const TextSimilarity = z.strictObject({ ...textSimilarity, pass_threshold: z.number() })

/** A testing criterion as a client writes it; parsed, its messages have their one form. */
export const CreateTestingCriterion = z.discriminatedUnion('type', [
  StringCheck,
  TextSimilarity,
  Python,
  GivenScoreModel,
  GivenLabelModel,
])
export type CreateTestingCriterion = z.output<typeof CreateTestingCriterion>

const scoreModelShown = { ...scoreModel, input: z.array(EvalMessage), sampling_params: Sampling.nullish() }
const labelModelShown = { ...labelModel, input: z.array(EvalMessage) }
const id = z.string()

/** As a reply shows it: the id is the name and a UUID. */
export const TestingCriterion = z.discriminatedUnion('type', [
  z.strictObject({ ...stringCheck, id }),
  z.strictObject({ ...textSimilarity, pass_threshold: z.number(), id }),
  z.strictObject({ ...python, id }),
  z.strictObject({ ...scoreModelShown, id }),
  z.strictObject({ ...labelModelShown, id }),
])
export type TestingCriterion = z.infer<typeof TestingCriterion>

const PartOfMulti = z.discriminatedUnion('type', [
  StringCheck,
  OpenTextSimilarity,
  Python,
  GivenScoreModel,
  GivenLabelModel,
])
/** How a formula calls a grader. */
const FormulaName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'letters, digits and _ only, beginning with a letter or _')

const GraderMap = z
  .record(FormulaName, PartOfMulti)
  .refine((map) => Object.keys(map).length > 0, 'at least one grader is needed')
  .refine((map) => Object.keys(map).length <= multiGradersMax, `at most ${multiGradersMax} graders`)

const multi = { type: z.literal('multi'), name, calculate_output: z.string().min(1).max(formulaMax) }

/** The SDK types `graders` as one grader; what is sent is a map by name. Both are taken. */
const GivenMulti = z.strictObject({ ...multi, graders: z.union([GraderMap, PartOfMulti]) })

/** What the graders API runs by itself. */
export const GivenGrader = z.discriminatedUnion('type', [
  StringCheck,
  OpenTextSimilarity,
  Python,
  GivenScoreModel,
  GivenMulti,
])
export type Grader = z.output<typeof GivenGrader>
export type MultiGrader = z.output<typeof GivenMulti>
export type SingleGrader = z.output<typeof PartOfMulti>
export type ScoreModelGrader = z.output<typeof GivenScoreModel>
export type LabelModelGrader = z.output<typeof GivenLabelModel>
export type PythonGrader = z.output<typeof Python>
export type StringCheckGrader = z.output<typeof StringCheck>
export type TextSimilarityGrader = z.output<typeof OpenTextSimilarity>

const PartOfMultiShown = z.discriminatedUnion('type', [
  StringCheck,
  OpenTextSimilarity,
  Python,
  z.strictObject(scoreModelShown),
  z.strictObject(labelModelShown),
])

export const GraderShown = z.discriminatedUnion('type', [
  StringCheck,
  OpenTextSimilarity,
  Python,
  z.strictObject(scoreModelShown),
  z.strictObject({ ...multi, graders: z.union([PartOfMultiShown, z.record(z.string(), PartOfMultiShown)]) }),
])

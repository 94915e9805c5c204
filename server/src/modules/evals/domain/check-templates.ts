import type { SingleGrader } from '@switchyard/contracts/evals/graders.ts'
import type { EvalMessage } from '@switchyard/contracts/evals/messages.ts'
import { Fault } from '#platform/errors/fault.ts'
import { placedParts, templatesOfPart } from './messages.ts'
import { compileTemplate, variablesOf, type Variable } from './template.ts'

/** A text that is rendered for every row, and where the caller wrote it. */
export interface WrittenTemplate {
  readonly text: string
  readonly param: string
}

export function* templatesOfMessages(messages: readonly EvalMessage[], param: string): Generator<WrittenTemplate> {
  for (const { part, place } of placedParts(messages, param)) {
    for (const [, text] of templatesOfPart(part)) yield { text, param: place }
  }
}

export function* templatesOfGrader(grader: SingleGrader, param: string): Generator<WrittenTemplate> {
  if (grader.type === 'python') return
  if (grader.type === 'score_model' || grader.type === 'label_model') {
    yield* templatesOfMessages(grader.input, `${param}.input`)
    return
  }
  yield { text: grader.input, param: `${param}.input` }
  yield { text: grader.reference, param: `${param}.reference` }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The first step of a path that the schema rules out. Only what is certain: a schema that lists its properties and
 * closes the list.
 */
function findClosedStep(schema: unknown, steps: readonly string[]): string | null {
  let at = schema
  for (const [depth, step] of steps.entries()) {
    // What stands beside a reference counts in some dialects only. An item is an object; what it holds may be a list.
    if (!isObject(at) || '$ref' in at || 'patternProperties' in at) return null
    if (depth > 0 && at['type'] !== 'object') return null
    const properties = isObject(at['properties']) ? at['properties'] : {}
    if (!Object.hasOwn(properties, step)) return at['additionalProperties'] === false ? step : null
    at = properties[step]
  }
  return null
}

export interface Known {
  /** Of the items; null when it is not known before the run. */
  readonly itemSchema: Readonly<Record<string, unknown>> | null
  /** Whether there is an output to refer to. */
  readonly sample: boolean
}

function complaint({ path, expression }: Variable, { itemSchema, sample }: Known): string | null {
  const shown = `{{ ${expression.slice(0, 100)} }}`
  const [namespace, ...steps] = path ?? []
  if (namespace === 'sample') return sample ? null : `${shown} refers to an output before there is one`
  if (namespace !== 'item') return `${shown} is no variable: they begin with item or sample, as in {{ item.name }}`
  const closed = itemSchema === null ? null : findClosedStep(itemSchema, steps)
  return closed === null ? null : `${shown} refers to '${closed}', which the item schema does not have`
}

/** Refuses templates that no row could fill. */
export function checkTemplates(templates: Iterable<WrittenTemplate>, known: Known): void {
  for (const { text, param } of templates) {
    for (const variable of variablesOf(compileTemplate(text))) {
      const said = complaint(variable, known)
      if (said !== null) throw new Fault('invalid_value', `Invalid '${param}': ${said}.`, { param })
    }
  }
}

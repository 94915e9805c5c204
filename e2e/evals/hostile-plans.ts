import type { HostileCriterion, HostileInput, HostilePython, HostileSchema, HostileTemplate } from './hostile-input.ts'

export type PlannedInput = Exclude<HostileInput, { kind: 'line' }>

/** An eval and the rows of one run of it, as JSON text: some cannot be written by a client. */
export interface HostilePlan {
  readonly input: PlannedInput
  readonly evalText: string
  /** The second is hostile where there are three; the others are sound, and must pass. */
  readonly rows: readonly string[]
  /** How they are sent: a body has less of what JSON can hold than a file has. */
  readonly by: 'file' | 'content'
}

const anything = '{"type":"object"}'
const sample = { output_text: 'x' }

const textOfEval = (name: string, schema: string, ...criteria: readonly unknown[]) =>
  `{"name":${JSON.stringify(name)},"data_source_config":{"type":"custom","item_schema":${schema},` +
  `"include_sample_schema":true},"testing_criteria":${JSON.stringify(criteria)}}`

const rowOf = (item: unknown) => JSON.stringify({ item })
const between = (good: string, hostile: string) => [good, hostile, good]

export function planOf(input: PlannedInput): HostilePlan {
  const by = input.kind === 'template' || input.kind === 'criterion' ? 'file' : 'content'
  return { input, by, ...written(input) }
}

function written(input: PlannedInput): Pick<HostilePlan, 'evalText' | 'rows'> {
  switch (input.kind) {
    case 'schema':
      return ofSchema(input)
    case 'template':
      return ofTemplate(input)
    case 'python':
      return ofPython(input)
    case 'criterion':
      return ofCriterion(input)
  }
}

function ofSchema({ name, schema, item }: HostileSchema & { name: string }) {
  const criterion = { type: 'string_check', name: 'same', input: 'x', reference: 'x', operation: 'eq' }
  const hostile = `{"item":${item()}}`
  // An item without anything is sound by every schema here that is not hostile to just that.
  const rows = item() === '{}' ? [hostile] : between('{"item":{}}', hostile)
  return { evalText: textOfEval(name, schema(), criterion), rows }
}

function ofTemplate({ name, template, item, renders = 'never' }: HostileTemplate & { name: string }) {
  const criterion = { type: 'string_check', name: 'same', input: template, reference: '{{ item.wanted }}' }
  const rows = [rowOf({ ...item(), wanted: renders })]
  return { evalText: textOfEval(name, anything, { ...criterion, operation: 'eq' }), rows }
}

function ofPython({ name, source, unloadable }: HostilePython & { name: string }) {
  const criterion = { type: 'python', name: 'code', source: unloadable ? source : amid(source), pass_threshold: 1 }
  const rowOfN = (n: number) => JSON.stringify({ item: { n }, sample })
  const rows = unloadable ? [rowOfN(1)] : [0, 1, 2].map(rowOfN)
  return { evalText: textOfEval(name, anything, criterion), rows }
}

/** Only row 1 is graded by what is hostile; it has the container of the others. */
const amid = (source: string) => `${source.replace('def grade(', 'def misbehave(')}
def grade(sample, item):
    return misbehave(sample, item) if item['n'] == 1 else 1
`

function ofCriterion({ name, criteria, item }: HostileCriterion & { name: string }) {
  return {
    evalText: textOfEval(name, anything, ...criteria),
    rows: between(rowOf({ a: 'xy', b: 'x' }), rowOf(item())),
  }
}

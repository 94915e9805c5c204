import { RowError } from './row-error.ts'

/** Of one rendered text, in characters. */
export const renderedMax = 4 * 1024 * 1024
const expressionMax = 512
const stepsMax = 32

export interface Variable {
  /** What stood between the braces. */
  readonly expression: string
  /** Names and indexes, the namespace first. Null when the expression cannot be read. */
  readonly path: readonly string[] | null
}

/** Literal text and variables, in their order. */
export type Template = readonly (string | Variable)[]

/** What the variables of a template may refer to. */
export interface TemplateScope {
  readonly item: unknown
  readonly sample?: unknown
}

const first = /[A-Za-z_]\w*/y
const next = /\.([^\s.[\]{}"']+)|\[(\d{1,9})\]|\["([^"\]]+)"\]|\['([^'\]]+)'\]/y

/** `item.a.b[0]` as its steps; null when it is nothing of the kind. */
export function parsePath(expression: string): readonly string[] | null {
  if (expression.length > expressionMax) return null
  first.lastIndex = 0
  const head = first.exec(expression)
  if (head === null) return null
  const path = [head[0]]
  let at = first.lastIndex
  while (at < expression.length) {
    next.lastIndex = at
    const step = next.exec(expression)
    const name = step?.slice(1).find((group) => group !== undefined)
    if (name === undefined || path.length === stepsMax) return null
    path.push(name)
    at = next.lastIndex
  }
  return path
}

/** Reads a text once. Braces that nothing closes are text. */
export function compileTemplate(text: string): Template {
  const parts: (string | Variable)[] = []
  let at = 0
  while (at < text.length) {
    const close = text.indexOf('}}', text.indexOf('{{', at))
    // The braces nearest to the closing ones: those of `{{{item.a}}}` are JSON's and ours.
    const open = close < 0 ? -1 : text.lastIndexOf('{{', close - 1)
    if (open < at) break
    if (open > at) parts.push(text.slice(at, open))
    const expression = text.slice(open + 2, close).trim()
    parts.push({ expression, path: parsePath(expression) })
    at = close + 2
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

export function variablesOf(template: Template): readonly Variable[] {
  return template.filter((part) => typeof part !== 'string')
}

const index = /^(?:0|[1-9]\d*)$/

/** Own fields and elements only: what an object inherits is none of the data's. */
function stepInto(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  if (Array.isArray(value) && !index.test(step)) return undefined
  return (value as Record<string, unknown>)[step]
}

const clip = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

/** The value that a path leads to. */
export function valueOf({ expression, path }: Variable, scope: TemplateScope): unknown {
  const [namespace, ...steps] = path ?? []
  if (namespace !== 'item' && namespace !== 'sample') {
    throw new RowError('template_error', `{{ ${clip(expression)} }} is neither an item nor a sample variable.`)
  }
  if (namespace === 'sample' && scope.sample == null) {
    throw new RowError('template_error', `{{ ${clip(expression)} }} asks for a sample, and the row has none.`)
  }
  let value: unknown = scope[namespace]
  for (const step of steps) value = stepInto(value, step)
  if (value === undefined) throw new RowError('template_error', `The row has no {{ ${clip(expression)} }}.`)
  return value
}

function textOf(value: unknown, variable: Variable): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch (error) {
    // A line of data may be nested deeper than there is stack to write it.
    const message = `{{ ${clip(variable.expression)} }} is nested too deeply to be written as JSON.`
    throw new RowError('template_error', message, { cause: error })
  }
}

/** Puts the values in their places: text as it is, anything else as JSON. What is put in is not read again. */
export function render(template: Template, scope: TemplateScope): string {
  let text = ''
  for (const part of template) {
    text += typeof part === 'string' ? part : textOf(valueOf(part, scope), part)
    if (text.length > renderedMax) {
      throw new RowError('template_error', `The rendered text is longer than ${renderedMax} characters.`)
    }
  }
  return text
}

import type { FaultCode } from '@switchyard/contracts/errors.ts'
import type { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** `a.b[0].c`, as people write it. */
export function paramOf(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const step of path) {
    if (value === null || typeof value !== 'object') return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

const lowCodes: Record<string, FaultCode> = {
  string: 'string_below_min_length',
  array: 'array_below_min_length',
}
const highCodes: Record<string, FaultCode> = {
  string: 'string_above_max_length',
  array: 'array_above_max_length',
}

function codeOf(issue: Issue): FaultCode {
  switch (issue.code) {
    case 'unrecognized_keys':
      return 'unknown_parameter'
    case 'invalid_type':
      return 'invalid_type'
    case 'too_small':
      return lowCodes[issue.origin] ?? 'integer_below_min_value'
    case 'too_big':
      return highCodes[issue.origin] ?? 'integer_above_max_value'
    default:
      return 'invalid_value'
  }
}

/** In a union, the branch that got furthest is the one the caller meant. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  let best: { issue: Issue; depth: number } | null = null
  for (const branch of issue.errors) {
    for (const inner of branch) {
      const found = deepest({ ...inner, path: [...issue.path, ...inner.path] })
      const depth = found.path.length + (found.code === 'unrecognized_keys' ? 1 : 0)
      if (best === null || depth > best.depth) best = { issue: found, depth }
    }
  }
  return best?.issue ?? issue
}

function faultOf(error: z.core.$ZodError, input: unknown): Fault {
  const first = error.issues[0]
  assert(first !== undefined, 'a failed parse has an issue')
  const issue = deepest(first)
  if (issue.code === 'unrecognized_keys') {
    const param = paramOf([...issue.path, issue.keys[0] ?? ''])
    return new Fault('unknown_parameter', `Unknown parameter: '${clip(param)}'.`, { param: clip(param) })
  }
  const param = clip(paramOf(issue.path))
  if (issue.path.length > 0 && valueAt(input, issue.path) === undefined) {
    return new Fault('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
  }
  return new Fault(codeOf(issue), `Invalid '${param}': ${issue.message}.`, { param })
}

/** What the caller wrote comes back to them bounded. */
const paramMax = 200
const clip = (text: string) => (text.length > paramMax ? `${text.slice(0, paramMax)}…` : text)

export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw faultOf(result.error, input)
}

/**
 * PostgreSQL stores neither U+0000 nor half a surrogate pair, and no honest client sends them.
 * Returns the path of the first string (or key) that has one.
 */
export function findUnstorable(value: unknown, path: Path = []): Path | null {
  if (typeof value === 'string') return isStorable(value) ? null : path
  if (value === null || typeof value !== 'object') return null
  for (const [key, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key
    if (typeof step === 'string' && !isStorable(step)) return path
    const found = findUnstorable(inner, [...path, step])
    if (found !== null) return found
  }
  return null
}

export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

export function refuseUnstorable(value: unknown): void {
  const path = findUnstorable(value)
  if (path === null) return
  const param = clip(paramOf(path).replaceAll('\u0000', '').toWellFormed())
  throw new Fault(
    'invalid_value',
    'The text contains a character that cannot be stored (U+0000 or half a surrogate pair).',
    {
      param,
    },
  )
}

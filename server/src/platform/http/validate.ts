import type { FaultCode } from '@switchyard/contracts/errors.ts'
import type { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'
import { clip, paramOf, type Path } from './param-path.ts'

type Issue = z.core.$ZodIssue

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const step of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
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
    case 'custom':
      // A rule of the contract may say which fault it is.
      return (issue.params?.['fault'] as FaultCode | undefined) ?? 'invalid_value'
    default:
      return 'invalid_value'
  }
}

/** An unknown key sits one level below the object that has it. */
const depthOf = (issue: Issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)

/** In a union, the branch that got furthest with the fewest complaints is the one the caller meant. */
function meant(issue: Issue): Issue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const branches = issue.errors.map((branch) => {
    const issues = branch.map((inner) => meant({ ...inner, path: [...issue.path, ...inner.path] }))
    const depth = issues.reduce((deepest, inner) => Math.max(deepest, depthOf(inner)), 0)
    return { issues, depth }
  })
  const [best] = branches.toSorted((a, b) => b.depth - a.depth || a.issues.length - b.issues.length)
  assert(best !== undefined, 'a union has branches')
  if (best.depth === issue.path.length)
    return anyTypeOf(
      issue,
      branches.flatMap(({ issues }) => issues),
    )
  return best.issues.find((inner) => depthOf(inner) === best.depth) ?? issue
}

/** Nothing fits at all: the caller learns every type that would. */
function anyTypeOf(issue: Issue, inner: Issue[]): Issue {
  const expected = new Set(inner.flatMap((one) => (one.code === 'invalid_type' ? [one.expected] : [])))
  const [first] = inner
  if (first?.code !== 'invalid_type' || expected.size < 2) return first ?? issue
  return {
    ...first,
    message: first.message.replace(`expected ${first.expected}`, `expected ${[...expected].join(' or ')}`),
  }
}

/** Absent, rather than present and wrong. A rule of the contract's own (`custom`) says itself what it misses. */
function isMissing(issue: Issue, input: unknown): boolean {
  const absent = issue.path.length > 0 && valueAt(input, issue.path) === undefined
  return absent && (issue.code === 'invalid_type' || issue.code === 'invalid_value' || issue.code === 'invalid_union')
}

function sentence(message: string): string {
  const text = message.replace(/^Invalid input: /, '').replace(/\.$/, '')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function faultOf(error: z.core.$ZodError, input: unknown): Fault {
  const [first] = error.issues
  assert(first !== undefined, 'a failed parse has an issue')
  const issue = meant(first)
  if (issue.code === 'unrecognized_keys') return unknownParameter(paramOf([...issue.path, issue.keys[0] ?? '']))
  const said = clip(sentence(issue.message), messageMax)
  if (issue.path.length === 0) return new Fault(codeOf(issue), `Invalid request: ${said}.`)
  const param = clip(paramOf(issue.path))
  if (isMissing(issue, input)) {
    return new Fault('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
  }
  return new Fault(codeOf(issue), `Invalid '${param}': ${said}.`, { param })
}

/** Room for the longest list of choices in the contract. */
const messageMax = 2_000

export function unknownParameter(name: string): Fault {
  const param = clip(name)
  return new Fault('unknown_parameter', `Unknown parameter: '${param}'.`, { param })
}

export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw faultOf(result.error, input)
}

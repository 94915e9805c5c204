const CAUSES_MAX = 8
const SIBLINGS_MAX = 5

/** Facts that errors of ours and of our libraries carry. Others may hold a caller's data and stay out of the log. */
const FACTS = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'statusCode',
  'param',
  'severity',
  'schema',
  'table',
  'constraint',
]

export interface ErrorView {
  type: string
  message: string
  stack?: string
  causes?: ErrorView[]
  errors?: ErrorView[]
  [fact: string]: unknown
}

/** An error as it is logged: itself, then each cause once, outermost first. */
export function errorView(value: unknown): unknown {
  if (!isErrorLike(value)) return value
  const view = one(value)
  const causes = causesOf(value)
  if (causes.length > 0) view.causes = causes
  return view
}

interface ErrorLike {
  message: string
  name?: unknown
  stack?: unknown
  cause?: unknown
}

const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'

function one(error: ErrorLike): ErrorView {
  const view: ErrorView = { type: typeof error.name === 'string' ? error.name : 'Error', message: error.message }
  const facts = error as unknown as Record<string, unknown>
  for (const fact of FACTS) {
    const value = facts[fact]
    if (typeof value === 'string' || typeof value === 'number') view[fact] = value
  }
  if (typeof error.stack === 'string') view.stack = error.stack
  if (error instanceof AggregateError) view.errors = error.errors.slice(0, SIBLINGS_MAX).filter(isErrorLike).map(one)
  return view
}

function causesOf(error: ErrorLike): ErrorView[] {
  const seen = new Set<unknown>([error])
  const causes: ErrorView[] = []
  for (let cause = error.cause; cause !== undefined && cause !== null;) {
    if (seen.has(cause) || causes.length === CAUSES_MAX) break
    seen.add(cause)
    if (!isErrorLike(cause)) {
      causes.push({ type: typeof cause, message: typeof cause === 'string' ? cause : 'not an error' })
      break
    }
    causes.push(one(cause))
    cause = cause.cause
  }
  return causes
}

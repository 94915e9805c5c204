/** What a JSON Schema validator says about one thing that is wrong. */
export interface SchemaError {
  /** A JSON pointer into what was checked. */
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string | undefined
}

const REASON_CHARS_MAX = 500
const DETAIL_CHARS_MAX = 120
const PATH_CHARS_MAX = 160
/** Keywords whose error only sums up the one that came before it. */
const SUMS_UP = new Set(['anyOf', 'oneOf', 'if', 'not', 'contains', 'propertyNames'])

/** One sentence about the first thing that is wrong, naming its place: `item.answer must be string`. */
export function schemaReason(errors: readonly SchemaError[], root = 'item'): string {
  const first = errors[0]
  const last = errors.at(-1)
  if (first === undefined || last === undefined) return `${root} does not match the schema`
  if (first === last || !SUMS_UP.has(last.keyword)) return sentence(one(first, root))
  return sentence(`${one(last, root)}: ${one(first, root)}`)
}

/** Text that may be stored and shown: one line, well-formed, without control characters, of bounded length. */
export function sentence(text: string, charsMax = REASON_CHARS_MAX): string {
  const cut = text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text
  return cut.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\uFFFD')
}

function one(error: SchemaError, root: string): string {
  const detail = detailOf(error)
  const message = error.message ?? `does not match "${error.keyword}"`
  return `${pathOf(error.instancePath, root)} ${message}${detail === '' ? '' : ` (${sentence(detail, DETAIL_CHARS_MAX)})`}`
}

function detailOf({ keyword, params }: SchemaError): string {
  const named = {
    additionalProperties: params['additionalProperty'],
    unevaluatedProperties: params['unevaluatedProperty'],
    propertyNames: params['propertyName'],
    const: params['allowedValue'],
  }[keyword]
  if (named !== undefined) return shown(named)
  const allowed = params['allowedValues']
  if (keyword !== 'enum' || !Array.isArray(allowed)) return ''
  return allowed
    .slice(0, DETAIL_CHARS_MAX / 2)
    .map((value) => shown(value))
    .join(', ')
}

function shown(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, DETAIL_CHARS_MAX) : value) ?? ''
}

/** `/a/0/b c` becomes `item.a[0]["b c"]`. */
function pathOf(pointer: string, root: string): string {
  const keys = pointer.slice(0, PATH_CHARS_MAX).split('/').slice(1)
  const path = keys.map((key) => {
    const plain = key.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(plain)) return `[${plain}]`
    return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(plain) ? `.${plain}` : `[${JSON.stringify(plain)}]`
  })
  return `${root}${path.join('')}${pointer.length > PATH_CHARS_MAX ? '…' : ''}`
}

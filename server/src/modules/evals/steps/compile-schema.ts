import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { schemaReason, sentence } from '../domain/schema-reason.ts'

/** Why an item does not match its schema, or null. */
export type ItemCheck = (item: unknown) => string | null

/** The schema cannot be used; the message says why. */
export class SchemaRefused extends Error {
  override name = 'SchemaRefused'
}

const SCHEMA_DEPTH_MAX = 200

/** As written if it is valid with `u`, as JSON Schema asks; many patterns in the field are only valid without. */
const pattern = (source: string, flags: string): RegExp => {
  try {
    return new RegExp(source, flags)
  } catch {
    return new RegExp(source)
  }
}

const OPTIONS: Options = {
  strict: false,
  validateSchema: false,
  logger: false,
  // An inherited `constructor` is not a property of the item.
  ownProperties: true,
  // Copies of what is referred to would multiply with every level.
  inlineRefs: false,
  // Its optimiser makes wide schemas four times as slow to compile, and checks no faster.
  code: { optimize: false, regExp: Object.assign(pattern, { code: 'new RegExp' }) },
}

const DIALECTS = {
  '2020-12': Ajv2020,
  '2019-09': Ajv2019,
  'draft-07': Ajv,
} as const
type Dialect = keyof typeof DIALECTS

const DIALECT_OF: Readonly<Record<string, Dialect>> = {
  'json-schema.org/draft/2020-12/schema': '2020-12',
  'json-schema.org/draft/2019-09/schema': '2019-09',
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft-06/schema': 'draft-07',
  // What draft 4 says otherwise (a boolean exclusiveMinimum) is not valid in draft 7, so it is refused, not misread.
  'json-schema.org/draft-04/schema': 'draft-07',
  'json-schema.org/schema': '2020-12',
}

/** Compiles schemas of strangers, each by itself: no schema can refer to another one, and nothing is fetched. */
export class SchemaCompiler {
  readonly #meta = new Map<Dialect, Ajv>()

  /** Prepares what every compilation needs, so that none is stopped half-way through it. */
  warmUp(): void {
    for (const dialect of Object.keys(DIALECTS) as Dialect[]) this.#complaint(dialect, {})
  }

  compile(written: Record<string, unknown>): ItemCheck {
    if (depthOf(written, SCHEMA_DEPTH_MAX) > SCHEMA_DEPTH_MAX) {
      throw new SchemaRefused(`the schema is nested deeper than ${SCHEMA_DEPTH_MAX} levels`)
    }
    const { $schema, ...schema } = written
    if ('$async' in schema) throw new SchemaRefused('the keyword "$async" is not supported')
    const dialect = this.#dialectOf($schema, schema)
    const ajv: Ajv = new DIALECTS[dialect](OPTIONS)
    formats.default(ajv)
    Object.setPrototypeOf(ajv.formats, null)
    // Not a keyword since draft 6, so without a meaning, but the library throws on it.
    ajv.removeKeyword('id')
    try {
      return checkWith(ajv.compile(schema))
    } catch (error) {
      throw refused(error)
    }
  }

  #dialectOf($schema: unknown, schema: Record<string, unknown>): Dialect {
    const named = typeof $schema === 'string' ? dialectNamed($schema) : null
    if ($schema !== undefined && named === null) {
      throw new SchemaRefused(sentence(`$schema ${JSON.stringify($schema)} is not a dialect that is known here`))
    }
    const complaint = this.#complaint(named ?? '2020-12', schema)
    if (complaint === null) return named ?? '2020-12'
    // Without $schema the newest draft it is valid in: `items` as a list, for one, is older than 2020-12.
    if (named === null && this.#complaint('draft-07', schema) === null) return 'draft-07'
    throw new SchemaRefused(complaint)
  }

  /** What the meta-schema of the dialect says against this schema. */
  #complaint(dialect: Dialect, schema: Record<string, unknown>): string | null {
    const meta =
      this.#meta.get(dialect) ?? new DIALECTS[dialect]({ strict: false, logger: false, validateFormats: false })
    this.#meta.set(dialect, meta)
    return meta.validateSchema(schema) === true ? null : schemaReason(meta.errors ?? [], 'schema')
  }
}

function dialectNamed($schema: string): Dialect | null {
  const name = $schema.replace(/^https?:\/\//, '').replace(/#$/, '')
  return Object.hasOwn(DIALECT_OF, name) ? (DIALECT_OF[name] ?? null) : null
}

function checkWith(validate: ReturnType<Ajv['compile']>): ItemCheck {
  return (item) => {
    try {
      if (validate(item)) return null
      return schemaReason(validate.errors ?? [])
    } catch (error) {
      if (error instanceof RangeError) return 'item is nested too deeply, or its schema refers to itself without end'
      return sentence(`item could not be checked against the schema: ${messageOf(error)}`)
    } finally {
      validate.errors = null
    }
  }
}

function refused(error: unknown): SchemaRefused {
  if (error instanceof Ajv.MissingRefError) {
    const named = JSON.stringify(error.missingRef.slice(0, 200))
    return new SchemaRefused(sentence(`$ref ${named} is not in the schema, and no other place is looked at`))
  }
  if (error instanceof RangeError) {
    return new SchemaRefused('the schema is too deep or too wide to be compiled, or refers to itself without end')
  }
  return new SchemaRefused(sentence(messageOf(error)))
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** How many levels of lists and objects there are, counted no further than one past the maximum. */
function depthOf(root: unknown, max: number): number {
  let level = [root]
  for (let depth = 0; depth <= max; depth += 1) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
    if (level.length === 0) return depth
  }
  return max + 1
}

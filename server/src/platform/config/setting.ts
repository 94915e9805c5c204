import { z } from 'zod'

export interface Setting<Value> {
  readonly schema: z.ZodType<Value, string | undefined>
  readonly description: string
  /** Shown in the reference page; null when there is none. */
  readonly defaultText: string | null
  readonly unit: string
  /** Never printed. */
  readonly secret: boolean
}

interface Described {
  readonly description: string
  readonly secret?: true
}

export function text<Fallback extends string | null>(
  given: Described & { fallback: Fallback; pattern?: { like: RegExp; says: string } },
): Setting<Fallback extends null ? string | null : string> {
  const { like, says } = given.pattern ?? { like: /^/, says: '' }
  const schema = z
    .string()
    .regex(like, says)
    .optional()
    .transform((value) => value ?? given.fallback)
  return {
    schema,
    description: given.description,
    defaultText: given.fallback,
    unit: 'text',
    secret: given.secret === true,
  } as never
}

/** An address. It may hold a password, so a wrong one is never repeated. */
export function url(given: Described & { protocols: readonly [string, ...string[]] }): Setting<string | null> {
  const says = `must be an address that begins with ${given.protocols.map((name) => `${name}://`).join(' or ')}`
  const schema = z
    .string()
    .refine((value) => URL.canParse(value) && given.protocols.includes(new URL(value).protocol.slice(0, -1)), says)
    .optional()
    .transform((value) => value ?? null)
  return {
    schema,
    description: given.description,
    defaultText: null,
    unit: 'URL',
    secret: given.secret === true,
  }
}

export function choice<const Options extends readonly [string, ...string[]]>(
  given: Described & { options: Options; fallback: Options[number] },
): Setting<Options[number]> {
  const schema = z
    .enum(given.options)
    .optional()
    .transform((value) => value ?? given.fallback)
  return {
    schema,
    description: given.description,
    defaultText: given.fallback,
    unit: given.options.join(' | '),
    secret: false,
  }
}

export function integer(
  given: Described & { fallback: number; min: number; max: number; unit: string },
): Setting<number> {
  const schema = z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(given.min).max(given.max))
    .optional()
    .transform((value) => value ?? given.fallback)
  return {
    schema,
    description: given.description,
    defaultText: String(given.fallback),
    unit: given.unit,
    secret: false,
  }
}

export function ratio(given: Described & { fallback: number }): Setting<number> {
  const schema = z
    .string()
    .regex(/^\d*\.?\d+(?:e-?\d+)?$/i, 'must be a number from 0 to 1')
    .transform(Number)
    .pipe(z.number().min(0).max(1))
    .optional()
    .transform((value) => value ?? given.fallback)
  return {
    schema,
    description: given.description,
    defaultText: String(given.fallback),
    unit: '0 to 1',
    secret: false,
  }
}

export function flag(given: Described & { fallback: boolean }): Setting<boolean> {
  const schema = z
    .enum(['true', 'false'])
    .optional()
    .transform((value) => (value === undefined ? given.fallback : value === 'true'))
  return {
    schema,
    description: given.description,
    defaultText: String(given.fallback),
    unit: 'true | false',
    secret: false,
  }
}

export function list(
  given: Described & { fallback: readonly string[]; each?: { like: RegExp; says: string } },
): Setting<readonly string[]> {
  const { like, says } = given.each ?? { like: /^/, says: '' }
  const schema = z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(z.string().regex(like, says)))
    .optional()
    .transform((value) => value ?? given.fallback)
  return {
    schema,
    description: given.description,
    defaultText: given.fallback.join(','),
    unit: 'comma-separated',
    secret: false,
  }
}

export const port = (fallback: number, description: string) =>
  integer({ fallback, min: 0, max: 65_535, unit: 'port', description })
export const ms = (fallback: number, description: string) =>
  integer({ fallback, min: 1, max: 86_400_000, unit: 'milliseconds', description })
export const days = (fallback: number, min: number, description: string) =>
  integer({ fallback, min, max: 3_650, unit: 'days', description })

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
  given: Described & { fallback: Fallback },
): Setting<Fallback extends null ? string | null : string> {
  const schema = z
    .string()
    .min(1)
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

export function list(given: Described & { fallback: readonly string[] }): Setting<readonly string[]> {
  const schema = z
    .string()
    .optional()
    .transform((value) =>
      value === undefined
        ? given.fallback
        : value
            .split(',')
            .map((part) => part.trim())
            .filter((part) => part !== ''),
    )
  return {
    schema,
    description: given.description,
    defaultText: given.fallback.join(','),
    unit: 'comma-separated',
    secret: false,
  }
}

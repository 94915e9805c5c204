import type { Place } from './place.ts'

/** Input that an operation accepts. A FormData body goes as multipart. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | string[]>>
  readonly body?: Readonly<Record<string, unknown>> | FormData
  /**
   * Where else than in the path an id of the caller's own stands: `query.after`, `body.part_ids.0`. The sweep over
   * foreign objects puts someone else's id in each of these places.
   */
  readonly references?: readonly string[]
}

/** Makes what the operation needs in the place, and says how to call it. */
export type MakeExample = (at: Place) => Promise<Example>

export function replaceAt(example: Example, path: string, value: unknown): Example {
  const steps = path.split('.')
  const replaced = (inner: unknown, depth: number): unknown => {
    const step = steps[depth]
    if (step === undefined) return value
    if (Array.isArray(inner))
      return inner.map((item, index) => (String(index) === step ? replaced(item, depth + 1) : item))
    return { ...(inner as object), [step]: replaced((inner as Record<string, unknown>)[step], depth + 1) }
  }
  return replaced(example, 0) as Example
}

export function valueAt(example: Example, path: string): string {
  let value: unknown = example
  for (const step of path.split('.')) value = (value as Record<string, unknown>)[step]
  return String(value)
}

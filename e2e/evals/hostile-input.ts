/** What must come of an input. The reason is looked for in the row's error, or in the refusal's code, param and message. */
export type Expected =
  | { readonly expects: 'row_error' | 'refused'; readonly reason: RegExp }
  /** The row passes: what looks like an attack is data. */
  | { readonly expects: 'row_ok' }

/** A line of a JSONL file, without its line feed, for an eval with `lineEval`. */
export interface HostileLine {
  readonly kind: 'line'
  /** Made when it is needed: some are large. */
  readonly line: () => string | Uint8Array
  /** Rows that the line is read as; 1 unless said. */
  readonly rows?: number
}

/** An item schema and an item, both as JSON text: some are nested past what a client can write. */
export interface HostileSchema {
  readonly kind: 'schema'
  readonly schema: () => string
  readonly item: () => string
}

/** The input of a string check `eq` over the item. What it is compared with is `renders`, word for word. */
export interface HostileTemplate {
  readonly kind: 'template'
  readonly template: string
  readonly item: () => Record<string, unknown>
  readonly renders?: string
}

/** A Python grader over `{ item: { n: 1 }, sample: { output_text: 'x' } }`. */
export interface HostilePython {
  readonly kind: 'python'
  readonly source: string
  /** It cannot be loaded: no row gets as far as `grade`. */
  readonly unloadable?: true
}

/** Criteria as they are sent, over an item, for an eval whose schema takes any object. */
export interface HostileCriterion {
  readonly kind: 'criterion'
  readonly criteria: readonly unknown[]
  readonly item: () => Record<string, unknown>
}

export type HostileInput = { readonly name: string } & Expected &
  (HostileLine | HostileSchema | HostileTemplate | HostilePython | HostileCriterion)

export const rowError = (reason: RegExp) => ({ expects: 'row_error', reason }) as const
export const refused = (reason: RegExp) => ({ expects: 'refused', reason }) as const
export const rowOk = { expects: 'row_ok' } as const

/** What the lines are checked and graded by. */
export const lineEval = {
  itemSchema: {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
  },
  criterion: {
    type: 'string_check',
    name: 'same',
    input: '{{ item.a }}',
    reference: '{{ item.a }}',
    operation: 'eq',
  },
} as const
